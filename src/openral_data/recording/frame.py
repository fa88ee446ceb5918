"""One frame of a recorded episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RecordedFrame:
    """What was seen and felt at one instant, and the K control steps that followed."""

    stamp_s: float
    """[s] of the instant, on the bridge's clock."""
    state: NDArray[np.float32]
    """(8,) see `recorded_columns.STATE_NAMES`."""
    joints: NDArray[np.float32]
    """(J,) [rad] or [m]"""
    executed: NDArray[np.float32]
    """(K, A) what the arm was given."""
    commanded: NDArray[np.float32]
    """(K, A) what the newest chunk asked for; the executed action where no chunk asked for anything."""
    held: NDArray[np.bool_]
    """(K,) the arm was told to stay where it is."""
    intervention: bool
    """A person commanded at least one of the steps."""
    images: Mapping[str, NDArray[np.uint8] | None]
    """(H, W, 3) RGB by feature key; None: the same as in the frame before."""

    def row(self) -> dict[str, object]:
        """Return the columns that the journal keeps; a vector of one number is that number, as LeRobot has it."""
        vectors: dict[str, NDArray[Any]] = {
            "observation.state": self.state,
            "observation.joints": self.joints,
            "action": self.executed[0],
            "action.executed": self.executed.reshape(-1),
            "action.commanded": self.commanded.reshape(-1),
            "action.held": self.held,
        }
        columns = {name: vector if len(vector) > 1 else vector[0].item() for name, vector in vectors.items()}
        return {**columns, "intervention": self.intervention, "stamp_s": self.stamp_s}
