"""The data types that bridge, policies and monitors exchange, with their shapes, units and frames."""

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
    """(3,) [m] the controller's set point of the end effector; None: displacements count from the end effector itself,
    or the set point is unknown."""


@dataclass(frozen=True)
class StepView:
    """Images and state of one control step."""

    images: Mapping[str, Image]
    """Keyed by the camera's name in the scene."""
    state: RobotState


@dataclass(frozen=True)
class Observation:
    """Input of a skill at one instant, before its adaptation to the checkpoint."""

    stamp_s: float
    images: Mapping[str, Image]
    """Newest image of each camera, keyed by the camera's name in the scene."""
    state: RobotState
    instruction: str
    history: Sequence[StepView] = ()
    """The T instants of the manifest's `image_preprocessing.history`, oldest first, including the newest
    (`FrameHistory.at`); empty for skills that take one instant."""
    episode: str = ""
    """Name of the goal or episode, for policies with memory; see `Policy.reset`."""


@dataclass(frozen=True)
class PolicyBatch:
    """B observations in exactly the form a checkpoint was trained on."""

    images: Mapping[str, NDArray[np.uint8]]
    """(B, H, W, 3) uint8 RGB, keyed by the checkpoint's feature names; (B, T, H, W, 3), oldest first, if the
    manifest's `image_preprocessing.history` has T instants."""
    state: NDArray[np.float32]
    """(B, D) in the layout and units of the manifest's state contract; (B, T, D) if that has `history`."""
    instructions: Sequence[str]
    """B sentences."""
    episodes: Sequence[str] = ()
    """B names of goals or episodes, for policies with memory; empty: not named."""

    def __len__(self) -> int:
        return len(self.instructions)


class Policy(Protocol):
    """Batched inference of a skill. A policy with memory keeps its state by the names of episodes."""

    def reset(self, episodes: Sequence[str]) -> None:
        """Delete the state of these episodes; called before the first `predict` of each goal or episode.

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
        """Free the policy's resources; called once."""
        ...


def rotation_matrix(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) of a unit quaternion (4,) x, y, z, w; its columns are the rotated axes."""
    x, y, z, w = (float(value) for value in quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
