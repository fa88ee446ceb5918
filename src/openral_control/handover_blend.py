"""From one commander's motion to the next one's without a jump: actions are crossfaded over a few control steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SEAM_S = 0.15
"""[s] over which one motion fades into the other; a hand at 0.5 m/s is brought to rest at 3.3 m/s^2."""
GRIPPER = "_plus_gripper"
"""Ending of the representations whose last number is the gripper's, which is told at once."""


class Seam:
    """Fades the last action before a change of commander out, and what is planned after it in.

    Both lie within the limits of the action contract, which are a box for each step, and so does what lies between
    them. The change of action between two steps is at most |new - old| / n, where n is the number of steps.
    """

    def __init__(self, control_hz: float, representation: str) -> None:
        """Prepare for actions of a representation at a rate [Hz]."""
        self._steps = max(1, round(SEAM_S * control_hz))
        self._fades = slice(None, -1) if representation.endswith(GRIPPER) else slice(None)
        self._from: NDArray[Any] | None = None
        self._begun = 0

    @property
    def is_open(self) -> bool:
        """Whether something still fades."""
        return self._from is not None

    def begin(self, last: NDArray[Any] | None, step: int) -> None:
        """Begin at a control step, behind the action (A,) that was executed last; None: there was none."""
        self._from, self._begun = last, step

    def close(self) -> None:
        """Fade no more: the next action is executed as it is."""
        self._from = None

    def blend(self, action: NDArray[Any], step: int) -> NDArray[Any]:
        """Return what is executed at a control step in place of an action (A,)."""
        if self._from is None:
            return action
        share = (step - self._begun + 1) / (self._steps + 1)
        if share >= 1.0:
            self._from = None
            return action
        mixed = np.array(action, copy=True)
        old = self._from[self._fades]
        mixed[self._fades] = old + share * (action[self._fades] - old)
        return mixed
