"""The workspace check: hand and elbow stay in their boxes."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.joint_step import ArmGeometry
from openral_core.manifest.contracts import Box

TOLERANCE_M = 1e-3
"""[m] beyond the box that still counts as inside, as in the envelope, so that a hand can be led along the edge."""


class WorkspaceCheck:
    """Keeps hand and elbow in their boxes; from outside they may be led back, but not further out."""

    name = "workspace"

    def __init__(self, geometry: ArmGeometry, hand: Box | None, elbow: Box | None) -> None:
        """Take the arm's geometry and the boxes [m] in the world frame; None: unlimited."""
        self._geometry = geometry
        free = ([-np.inf] * 3, [np.inf] * 3)
        boxes = [(box.low, box.high) if box is not None else free for box in (hand, elbow)]
        self._low, self._high = (np.array(side, dtype=np.float64) for side in zip(*boxes, strict=True))

    def allows(self, start: Vector, end: Vector) -> bool:
        """Return whether hand and elbow are in their boxes at `end`, or no further out than at `start` (n,) [rad]."""
        outside = self._outside(end)
        if (outside <= TOLERANCE_M).all():
            return True
        return bool((outside <= np.maximum(self._outside(start), TOLERANCE_M)).all())

    def room(self, joints: Vector) -> float:
        """Return the distance [m] of hand or elbow, whichever is nearer, to a side of its box; negative: outside."""
        return TOLERANCE_M - float(self._outside(joints).max())

    def slope(self, joints: Vector) -> Vector:
        """Return the gradient (n,) [m/rad] of `room`."""
        point, axis = np.unravel_index(int(self._outside(joints).argmax()), self._low.shape)
        place = self._geometry.points(joints)[point, axis]
        is_low = self._low[point, axis] - place > place - self._high[point, axis]
        moves: Vector = self._geometry.point_slopes(joints)[point, axis]
        return moves if is_low else -moves

    def _outside(self, joints: Vector) -> Vector:
        """Return (2, 3) [m] by how far hand and elbow are beyond their boxes along each axis; negative: inside."""
        points = self._geometry.points(joints)
        farther: Vector = np.maximum(self._low - points, points - self._high)
        return farther
