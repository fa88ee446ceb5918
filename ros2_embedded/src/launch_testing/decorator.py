"""The mark of tests that run after the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)
_MARK = "__post_shutdown_test__"


def post_shutdown_test() -> Callable[[Class], Class]:
    """Mark a test case: it runs when all processes have ended."""

    def mark(case: Class) -> Class:
        setattr(case, _MARK, True)
        return case

    return mark


def runs_after_shutdown(case: type) -> bool:
    """Whether a test case is marked."""
    return getattr(case, _MARK, False) is True
