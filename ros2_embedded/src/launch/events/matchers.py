"""Predicates that choose events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..event import Event

if TYPE_CHECKING:
    from ..action import Action


def matches_action(target_action: Action) -> Callable[[Action], bool]:
    """Return a predicate that is true for `target_action` only."""
    return lambda action: action is target_action


def matches_event(event_type: type[Event]) -> Callable[[Event], bool]:
    """Return a predicate that is true for events of `event_type`."""
    return lambda event: isinstance(event, event_type)
