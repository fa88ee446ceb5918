"""Numbers of transitions, as in `lifecycle_msgs/msg/Transition`, without the cost of importing messages."""

from __future__ import annotations

import enum


class Transition(enum.IntEnum):
    """Transitions that can be requested."""

    TRANSITION_CREATE = 0
    TRANSITION_CONFIGURE = 1
    TRANSITION_CLEANUP = 2
    TRANSITION_ACTIVATE = 3
    TRANSITION_DEACTIVATE = 4
    TRANSITION_UNCONFIGURED_SHUTDOWN = 5
    TRANSITION_INACTIVE_SHUTDOWN = 6
    TRANSITION_ACTIVE_SHUTDOWN = 7
    TRANSITION_DESTROY = 8


def transition_name(transition_id: int) -> str:
    """Return the name of a transition; raise ValueError for a number that is none."""
    return Transition(transition_id).name
