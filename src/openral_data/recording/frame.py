"""One frame of a recorded episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RecordedFrame:
    """Images and state at one instant, and the K control steps after it."""

    stamp_s: float
    """[s] stamp of the instant on the bridge's clock."""
    state: NDArray[np.float32]
    """(8,) see `recorded_columns.STATE_NAMES`."""
    joints: NDArray[np.float32]
    """(J,) [rad] or [m]"""
    executed: NDArray[np.float32]
    """(K, A) executed actions."""
    commanded: NDArray[np.float32]
    """(K, A) actions of the newest chunk, or the executed ones where no chunk has an action."""
    held: NDArray[np.bool_]
    """(K,) whether the step is a hold."""
    intervention: bool
    """Whether an operator commanded at least one of the steps."""
    images: Mapping[str, NDArray[np.uint8] | None]
    """(H, W, 3) RGB by feature key; None: the same as in the frame before."""

    def row(self) -> dict[str, object]:
        """Return the columns of the journal; a vector of one number becomes that number, as in LeRobot."""
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
