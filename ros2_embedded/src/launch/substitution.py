"""The base of every value that is only known while a launch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Substitution:
    """A piece of text that is worked out from the `LaunchContext` at the moment it is needed."""

    def describe(self) -> str:
        """Return a short text for people that names the substitution and its operands."""
        return f"{type(self).__name__}()"

    def perform(self, context: LaunchContext) -> str:
        """Return the text this substitution stands for.

        Raises `SubstitutionFailure` (or a subclass) when the context does not hold what is needed.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement perform()")
