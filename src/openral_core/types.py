"""The few values that travel between bridge, policy and monitor, with their shapes, units and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""(H, W, 3) uint8, RGB, upright."""


@dataclass(frozen=True)
class RobotState:
    """Proprioception at one instant, as the bridge publishes it on `/joint_states` and `/openral/ee_pose`."""

    stamp_s: float
    """[s] clock of the bridge (simulation time in simulation)."""
    joint_names: tuple[str, ...]
    joint_positions: NDArray[np.float64]
    """(J,) [rad] or [m], in the order of `joint_names`."""
    ee_position: NDArray[np.float64]
    """(3,) [m] end effector in the frame of the scene's world."""
    ee_quaternion: NDArray[np.float64]
    """(4,) unit quaternion x, y, z, w in the same frame."""
    gripper_opening: float
    """[m] distance between the fingers."""
    ee_target: NDArray[np.float64] | None = None
    """(3,) [m] where the controller leads the end effector, ahead of where it is; None: it is led by steps from where
    it is, or nobody knows."""


@dataclass(frozen=True)
class StepView:
    """Images and state of one control step."""

    images: Mapping[str, Image]
    """Keyed by the camera's name in the scene."""
    state: RobotState


@dataclass(frozen=True)
class Observation:
    """What one skill sees at one instant, before adaptation."""

    stamp_s: float
    images: Mapping[str, Image]
    """Newest image of each camera, keyed by the camera's name in the scene."""
    state: RobotState
    instruction: str
    history: Sequence[StepView] = ()
    """The T instants that the manifest's `image_preprocessing.history` names, oldest first, the newest
    included (`FrameHistory.at`); empty for skills that see one instant."""
    episode: str = ""
    """Name of the goal or episode, for policies that remember; see `Policy.reset`."""


@dataclass(frozen=True)
class PolicyBatch:
    """B observations in exactly the form a checkpoint was trained on."""

    images: Mapping[str, NDArray[np.uint8]]
    """(B, H, W, 3) uint8 RGB, keyed by the checkpoint's feature names; (B, T, H, W, 3), oldest first, where the
    manifest's `image_preprocessing.history` names T instants."""
    state: NDArray[np.float32]
    """(B, D) in the layout and units of the manifest's state contract; (B, T, D) where that says `history`."""
    instructions: Sequence[str]
    """B sentences."""
    episodes: Sequence[str] = ()
    """B names of goals or episodes, for policies that remember; empty where nobody named them."""

    def __len__(self) -> int:
        return len(self.instructions)


class Policy(Protocol):
    """A skill's brain: one verb, batched from the start. What it remembers, it remembers by the episode's name."""

    def reset(self, episodes: Sequence[str]) -> None:
        """Forget what is remembered of these episodes; called before the first `predict` of each goal or episode.

        Raises:
            PolicyError: the policy cannot be reached.
        """
        ...

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        Raises:
            PolicyError: the batch does not have the form of the checkpoint, or inference failed.
        """
        ...

    def close(self) -> None:
        """Free what the policy holds; called once."""
        ...


def rotation_matrix(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (3, 3) rotation of a unit quaternion (4,) x, y, z, w; its columns are the turned axes."""
    x, y, z, w = (float(value) for value in quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
