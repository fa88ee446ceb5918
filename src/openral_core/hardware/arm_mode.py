"""Modes of a real arm, and what they mean for the goal that moves it."""

from __future__ import annotations

from enum import Enum


class ArmMode(str, Enum):
    """Mode of an arm, as it reports it."""

    IDLE = "idle"
    """The arm is at rest and can be moved."""
    MOVING = "moving"
    """The arm follows targets."""
    GUIDING = "guiding"
    """The arm is guided by hand."""
    USER_STOPPED = "user stopped"
    """The user stop is pressed."""
    REFLEX = "reflex"
    """The arm ended its motion by itself, and waits for `recover`."""
    FAULT = "fault"
    """The arm is defective, or its driver has failed."""


def ended_by_arm(stopped_by: str) -> bool:
    """Return whether a reason of `RobotArm.stopped_by` is a stop by the arm itself: user stop, reflex or fault."""
    return stopped_by.partition(":")[0] in (
        ArmMode.USER_STOPPED.value,
        ArmMode.REFLEX.value,
        ArmMode.FAULT.value,
    )


def takes_commands(stopped_by: str) -> bool:
    """Return whether a reason of `RobotArm.stopped_by` leaves the arm in a mode in which it follows commands.

    In any other mode a goal is over: whoever releases a user stop, or lets go of an arm that was guided by hand, does
    not expect it to move at once.
    """
    mode = stopped_by.partition(":")[0]
    return mode != ArmMode.GUIDING.value and not ended_by_arm(stopped_by)
