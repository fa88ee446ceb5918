"""The yaw of a hand: which way the line lies along which its fingers open, seen from above.

That line is the y axis of the end effector's frame, as in URDFs of parallel grippers. It has no front, so angles that
differ by pi are the same.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def yaw_of(quaternion: NDArray[np.float64]) -> float:
    """Return the angle [rad], -pi/2 to pi/2, about the world's z from the world's y axis to the hand's.

    Args:
        quaternion: (4,) unit quaternion x, y, z, w of the hand in the world frame, its y axis not upright.
    """
    x, y, z, w = (float(value) for value in quaternion)
    return math.remainder(math.atan2(-2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z)), math.pi)


def yaw_error(quaternion: NDArray[np.float64], wanted: float) -> float:
    """Return the turn [rad], -pi/2 to pi/2, about the world's z from a hand's yaw to the wanted one."""
    return math.remainder(wanted - yaw_of(quaternion), math.pi)
