"""The yaw of a hand: the direction, seen from above, of the line along which its fingers open.

That line is the y axis of the end effector's frame, as in URDFs of parallel grippers. It has no sign, so angles that
differ by pi are equivalent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def yaw_of(quaternion: NDArray[np.float64]) -> float:
    """Return the angle [rad], -pi/2 to pi/2, about the world's z from the world's y axis to the hand's.

    Args:
        quaternion: (4,) unit quaternion x, y, z, w of the hand in the world frame; its y axis is not vertical.
    """
    x, y, z, w = (float(value) for value in quaternion)
    return math.remainder(math.atan2(-2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z)), math.pi)


def yaw_error(quaternion: NDArray[np.float64], wanted: float) -> float:
    """Return the rotation [rad], -pi/2 to pi/2, about the world's z from a hand's yaw to the wanted one [rad]."""
    return math.remainder(wanted - yaw_of(quaternion), math.pi)
