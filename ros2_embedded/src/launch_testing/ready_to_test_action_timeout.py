"""How long a system may take until it is ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
DEFAULT_S = 15.0
"""[s] until the action `ReadyToTest` must have run."""
_MARK = "__ready_to_test_action_timeout__"


def ready_to_test_action_timeout(timeout: float) -> Callable[[Function], Function]:
    """Let the action `ReadyToTest` come within `timeout` [s] instead of 15."""

    def mark(function: Function) -> Function:
        setattr(function, _MARK, float(timeout))
        return function

    return mark


def timeout_of(function: Callable[..., Any]) -> float:
    """The time [s] that was set for a description."""
    return float(getattr(function, _MARK, DEFAULT_S))
