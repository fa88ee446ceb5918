"""Marks of descriptions and of tests."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "__launch_keep_alive__"


def keep_alive(function: Function) -> Function:
    """Keep the launch up until the tests have ended, also when all its processes have."""
    setattr(function, _MARK, True)
    return function


def is_kept_alive(function: Callable[..., Any]) -> bool:
    """Whether a description is marked."""
    return getattr(function, _MARK, False) is True


def retry_on_failure(*, times: int, delay: float | None = None) -> Callable[[Function], Function]:
    """Try a test again when an assertion fails in it.

    Args:
        times: how often in all.
        delay: pause before the next try [s].
    """
    if times < 1:
        raise ValueError(f"a test is tried once or more often, not {times} times")

    def mark(function: Function) -> Function:
        @functools.wraps(function)
        def tried(*args: Any, **kwargs: Any) -> Any:
            for left in reversed(range(times)):
                try:
                    return function(*args, **kwargs)
                except AssertionError:
                    if not left:
                        raise
                    time.sleep(delay or 0.0)
            return None

        return tried  # type: ignore[return-value]

    return mark
