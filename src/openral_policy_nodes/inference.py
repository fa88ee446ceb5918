"""From one synchronised observation to one chunk: adapters, policy, checks and timing. No threads, no ROS."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.action_adapter import ActionAdapter
from openral_core.errors import PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.observation_adapter import ObservationAdapter
from openral_core.scene import DeployScene
from openral_core.types import Image, Observation, Policy, RobotState


@dataclass(frozen=True)
class SensorSet:
    """Camera images and robot state of one instant."""

    stamp_ns: int
    """[ns] clock of the bridge; everything in the set carries exactly this stamp."""
    images: Mapping[str, Image]
    """Keyed by the camera's name in the scene."""
    state: RobotState
    frame_id: str = "world"
    """Frame of the end-effector position, and so of Cartesian actions."""


@dataclass(frozen=True)
class Chunk:
    """H actions that answer one observation of one goal."""

    goal_id: str
    """Hex UUID of the goal."""
    instruction: str
    sequence: int
    """Counts the chunks of the goal, from 0."""
    stamp_ns: int
    """[ns] stamp of the observation it answers."""
    frame_id: str
    data: NDArray[np.float32]
    """(H, A) in the scene's action contract; values that are not finite are left in, for the bridge to reject."""
    latency_s: float
    """[s] wall time from observation to chunk."""


class Inference:
    """Owns the adapters of one skill and calls its policy."""

    def __init__(self, manifest: RSkillManifest, scene: DeployScene, policy: Policy) -> None:
        self._observation_adapter = ObservationAdapter(manifest, scene)
        self._action_adapter = ActionAdapter(manifest, scene)
        if manifest.action_contract is None:
            raise PolicyError(
                f"{manifest.name}: no action_contract in its manifest; add one with the action's dim"
            )
        self._shape = (1, manifest.chunk_size, manifest.action_contract.dim)
        self._name = manifest.name
        self._policy = policy

    def chunk(self, sensors: SensorSet, goal_id: str, instruction: str, sequence: int) -> Chunk:
        """Infer one chunk.

        Raises:
            PolicyError: the policy failed or its answer has another shape than the manifest promises.
            ContractError: the observation is not what the scene promises.
        """
        begun = time.perf_counter()
        observation = Observation(sensors.stamp_ns * 1e-9, sensors.images, sensors.state, instruction)
        answer = np.asarray(self._policy.predict(self._observation_adapter.batch([observation])))
        if answer.shape != self._shape or answer.dtype.kind != "f":
            raise PolicyError(
                f"{self._name}: the policy answered {answer.dtype} {answer.shape}, its manifest promises float32 "
                f"{self._shape} (batch, chunk_size, action_contract.dim); correct the manifest or the weights"
            )
        data = self._action_adapter(answer[0])
        latency = time.perf_counter() - begun
        return Chunk(goal_id, instruction, sequence, sensors.stamp_ns, sensors.frame_id, data, latency)

    def warm_up(self, sensors: SensorSet, instruction: str) -> float:
        """Infer once and throw the chunk away, so that the first goal pays no one-time cost; return its latency [s].

        Raises:
            PolicyError, ContractError: as `chunk`.
        """
        return self.chunk(sensors, "", instruction, 0).latency_s

    def close(self) -> None:
        """Close the policy."""
        self._policy.close()
