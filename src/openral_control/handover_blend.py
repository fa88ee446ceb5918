"""Blending of actions where the commander of the arm changes, so that its motion has no jump."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SEAM_S = 0.15
"""[s] duration of the blend; a hand at 0.5 m/s is brought to rest at 3.3 m/s^2."""
GRIPPER = "_plus_gripper"
"""Suffix of the representations whose last number is the gripper command, which is not blended."""


class Seam:
    """Blends linearly from the last action before a change of commander to the actions after it.

    The limits of the action contract are a box for each step. Both actions are inside it, and so is each blend of them.
    For constant actions the change from one step to the next is |new - old| / (n + 1) over n blended steps.
    """

    def __init__(self, control_hz: float, representation: str) -> None:
        """Create a closed seam for actions of a representation at a control rate [Hz]."""
        self._steps = max(1, round(SEAM_S * control_hz))
        self._fades = slice(None, -1) if representation.endswith(GRIPPER) else slice(None)
        self._from: NDArray[Any] | None = None
        self._begun = 0

    @property
    def is_open(self) -> bool:
        """Whether a blend is in progress."""
        return self._from is not None

    def begin(self, last: NDArray[Any] | None, step: int) -> None:
        """Begin a blend at a control step, from the last executed action (A,); None: there was none, nor is a blend."""
        self._from, self._begun = last, step

    def close(self) -> None:
        """End the blend: the next action is executed unchanged."""
        self._from = None

    def blend(self, action: NDArray[Any], step: int) -> NDArray[Any]:
        """Return the action (A,) to be executed at a control step in place of `action` (A,)."""
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
