"""The base of conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Condition:
    """Decides, with the context in hand, whether an action runs."""

    def __init__(self, *, predicate: Callable[[LaunchContext], bool] | None = None) -> None:
        self._predicate = predicate

    def describe(self) -> str:
        """Return a short text for people."""
        return f"{type(self).__name__}({self._predicate})"

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the condition holds now; without a predicate it never does."""
        return self._predicate(context) if self._predicate is not None else False
