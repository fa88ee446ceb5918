"""Leads the hand back to the path of a chunk that came late, where displacements add up.

Row i of a chunk is a displacement from where the rows before it have led. A chunk that comes P steps after its
observation is executed from row P on, while the hand has executed rows of an older chunk in place of its first P. The
hand would go on beside the path that the chunk means, by the difference of the two sums. It is added to the next rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.scene import SceneAction

TRANSLATION = slice(0, 3)
FOLLOWED = 0.05
"""Largest deviation of a set point's displacement from its command that counts as followed, as a share of the command's
range."""


class CatchUp:
    """The correction of late chunks in one scene. Stateless."""

    def __init__(self, action: SceneAction) -> None:
        """Read an action contract.

        Chunks are corrected where it counts displacements of the hand from the controller's set point, so that they add
        up. From the hand's own position a lagging hand moves only a part of them, and joints are left alone.
        """
        self._adds_up = action.representation.startswith("delta_ee") and action.counts_from == "set_point"
        self._low = np.asarray(action.low, np.float32)[TRANSLATION]
        self._high = np.asarray(action.high, np.float32)[TRANSLATION]
        self._step_m = float(action.step_m or 0.0)

    def followed(
        self,
        action: NDArray[np.floating],
        before: NDArray[np.floating] | None,
        after: NDArray[np.floating] | None,
    ) -> bool:
        """Return whether an action (A,) displaced the set point as it commands.

        It does not where the arm was stopped or the set point is limited, by its distance to the hand or by a box. The
        hand is then not where the actions up to this one would have led it: none of them is to be made up for.

        Args:
            action: of one control step.
            before: (3,) [m] set point before the step.
            after: (3,) [m] set point after it.

        Returns:
            True also where displacements do not add up, or a set point is unknown (None).
        """
        if not self._adds_up or before is None or after is None:
            return True
        off = np.abs(after - before - self._step_m * action[TRANSLATION])
        return bool((off <= FOLLOWED * self._step_m * (self._high - self._low)).all())

    def rows(self, actions: NDArray[np.float32], executed: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the rows (H - P, A) of a chunk that are still to be executed.

        The correction is spread over as many rows as came too late, within the limits of the action contract. What does
        not fit is left to the rows after them.

        Args:
            actions: (H, A) the chunk.
            executed: (P, A) actions that were executed in place of the first P rows; nan in steps in which none of the
                goal's actions was, as while the arm held.
        """
        past = len(executed)
        rest = actions[past:].copy()
        known = np.isfinite(executed).all(axis=1)
        owed = (actions[:past][known] - executed[known])[:, TRANSLATION].sum(axis=0)
        if not (self._adds_up and owed.any()):
            return rest
        for number, row in enumerate(rest):
            planned = row[TRANSLATION].copy()
            row[TRANSLATION] = np.clip(planned + owed / max(1, past - number), self._low, self._high)
            owed = owed - (row[TRANSLATION] - planned)
        return rest
