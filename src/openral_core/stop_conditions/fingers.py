"""What the fingers do: whether they were told to close, whether they came to rest, and whether on something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from openral_core.robot import RobotDescription
from openral_core.stop_conditions.sliding_window import Window
from openral_core.vocabulary import Representation

CLOSES = 0.5
"""The gripper's number of an action from which on the fingers are to close. It is the last of the row, -1 opens and 1
closes, in every `*_plus_gripper` representation; a set point between is neither."""
MARGIN_M = 0.004
"""[m] from either end of their travel within which the fingers count as being at it. What is thinner than this cannot
be told from nothing."""
REST_M = 0.002
"""[m] the opening of fingers at rest changes by no more than this."""
REST_S = 0.15
"""[s] within so long. A gripper that closes more slowly than 13 mm/s would seem to be at rest on its way. MetaWorld's,
which bounces off a puck, is at rest 0.35 s after it was told to close."""


def moves_fingers(representation: Representation) -> bool:
    """Return whether actions of this sort have a gripper number."""
    return representation.endswith("_plus_gripper")


def commands_closing(row: NDArray[Any], representation: Representation) -> bool | None:
    """Return whether an action (A,) tells the fingers to close; None: actions of this sort have no gripper number."""
    return bool(row[-1] >= CLOSES) if moves_fingers(representation) else None


@dataclass(frozen=True)
class FingerTravel:
    """Between which openings a robot's fingers move."""

    closed_m: float
    """[m] opening of fingers that closed on nothing."""
    open_m: float | None
    """[m] opening of open fingers; None: nobody knows."""

    @classmethod
    def of(cls, robot: RobotDescription) -> FingerTravel:
        """Return the travel of the first end effector's fingers."""
        hand = robot.end_effectors[0]
        return cls(hand.min_opening_m, hand.max_opening_m)

    def is_between(self, opening_m: float, closed_m: float | None = None) -> bool:
        """Return whether an opening [m] is at neither end; `closed_m` [m] takes the place of the robot's own."""
        closed = self.closed_m if closed_m is None else closed_m
        below_open = self.open_m is None or opening_m < self.open_m - MARGIN_M
        return opening_m > closed + MARGIN_M and below_open


class FingersAtRest:
    """Whether fingers that were told to close have come to rest, for so long."""

    def __init__(self, duration_s: float = REST_S) -> None:
        """Take for how long [s] they must be at rest."""
        self._window = Window(duration_s)

    def look(self, stamp_s: float, opening_m: float, closing: bool | None) -> bool:
        """Return whether they are at rest at a stamp [s], with an opening [m] and as they were told."""
        if not closing:
            self._window.clear()
            return False
        self._window.add(stamp_s, (opening_m,))
        values = self._window.values[:, 0]
        return self._window.covered and float(values.max() - values.min()) <= REST_M
