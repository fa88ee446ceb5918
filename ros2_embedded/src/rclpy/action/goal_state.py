"""The states of a goal on the server and the transitions between them (ROS 2 design: actions)."""

from __future__ import annotations

from enum import IntEnum

from action_msgs.msg import GoalStatus


class GoalEvent(IntEnum):
    """What can happen to a goal."""

    EXECUTE = 1
    CANCEL_GOAL = 2
    SUCCEED = 3
    ABORT = 4
    CANCELED = 5


ACTIVE = frozenset([GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING])
_TRANSITIONS = {
    (GoalStatus.STATUS_ACCEPTED, GoalEvent.EXECUTE): GoalStatus.STATUS_EXECUTING,
    (GoalStatus.STATUS_ACCEPTED, GoalEvent.CANCEL_GOAL): GoalStatus.STATUS_CANCELING,
    (GoalStatus.STATUS_EXECUTING, GoalEvent.CANCEL_GOAL): GoalStatus.STATUS_CANCELING,
    (GoalStatus.STATUS_EXECUTING, GoalEvent.SUCCEED): GoalStatus.STATUS_SUCCEEDED,
    (GoalStatus.STATUS_EXECUTING, GoalEvent.ABORT): GoalStatus.STATUS_ABORTED,
    (GoalStatus.STATUS_CANCELING, GoalEvent.SUCCEED): GoalStatus.STATUS_SUCCEEDED,
    (GoalStatus.STATUS_CANCELING, GoalEvent.ABORT): GoalStatus.STATUS_ABORTED,
    (GoalStatus.STATUS_CANCELING, GoalEvent.CANCELED): GoalStatus.STATUS_CANCELED,
}


class InvalidGoalTransition(RuntimeError):
    """The event is not allowed in the goal's state."""


def next_status(status: int, event: GoalEvent) -> int:
    """The status after an event.

    Raises:
        InvalidGoalTransition: not allowed.
    """
    try:
        return int(_TRANSITIONS[status, event])
    except KeyError:
        raise InvalidGoalTransition(f"goal event {event.name} is not allowed in status {status}") from None
