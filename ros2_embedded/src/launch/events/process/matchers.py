"""Predicates that choose processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...actions.execute_local import ExecuteLocal


def matches_pid(pid: int) -> Callable[[ExecuteLocal], bool]:
    """Return a predicate for the action whose process has this id."""
    return lambda action: action.process_details is not None and action.process_details["pid"] == pid


def matches_name(name: str) -> Callable[[ExecuteLocal], bool]:
    """Return a predicate for the action whose process has this name in the launch."""
    return lambda action: action.process_details is not None and action.process_details["name"] == name


def matches_executable(executable: str) -> Callable[[ExecuteLocal], bool]:
    """Return a predicate for actions whose command starts with this program, given as in the command."""
    return lambda action: (
        action.process_details is not None and action.process_details["cmd"][0] == executable
    )
