"""What a scripted expert says of a world; both sides of the wire know it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Advice:
    """Of one world, for its present task and state. It knows what no camera sees, so it is for teaching only."""

    action: NDArray[np.float64]
    """(7,) what the expert would do, in the scene's action contract, -1..1."""
    thing: NDArray[np.float64]
    """(3,) [m] centre of what is to be moved, in the world frame."""
    goal: NDArray[np.float64]
    """(3,) [m] where that centre shall come to rest, or be held."""
