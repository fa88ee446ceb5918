"""From one synchronised observation to one chunk: adapters, policy, checks and timing. No threads, no ROS."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.history import FrameHistory
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.scene import DeployScene
from openral_core.types import Image, Observation, Policy, RobotState, StepView
from openral_policy_nodes.goal_supervisor import GoalEnd

WARM_UP = "warm-up"
"""Name of the episode that warming up is, for the policy."""


@dataclass(frozen=True)
class SensorSet:
    """Camera images and robot state of one instant."""

    stamp_ns: int
    """[ns] clock of the bridge, of the state. A bridge stamps pictures alike; those of a real arm's cameras were taken
    within `arm.pairing_s` of it."""
    images: Mapping[str, Image]
    """Keyed by the camera's name in the scene."""
    state: RobotState
    frame_id: str = "world"
    """Frame of the end-effector position, and so of Cartesian actions."""
    history: Sequence[StepView] = ()
    """The instants that the skill looks at, this one included; see `Observation.history`."""


@dataclass(frozen=True)
class PolicyChunk:
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
    end: GoalEnd | None = None
    """How the goal has ended by what its skill saw itself; then there are no actions. Policies never say so."""


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
        self._control_hz = scene.control_hz

    def new_history(self) -> FrameHistory[StepView]:
        """Return an empty history of the instants that the skill looks at, for one goal."""
        return FrameHistory(self._observation_adapter.history)

    def step_of(self, stamp_ns: int) -> int:
        """Return the control step of a stamp [ns], as histories count."""
        return round(stamp_ns * 1e-9 * self._control_hz)

    def reset(self, goal_id: str) -> None:
        """Tell the policy that a goal begins.

        Raises:
            PolicyError: the policy cannot be reached.
        """
        self._policy.reset([goal_id])

    def chunk(self, sensors: SensorSet, goal_id: str, instruction: str, sequence: int) -> PolicyChunk:
        """Infer one chunk.

        Raises:
            PolicyError: the policy failed or its answer has another shape than the manifest promises.
            ContractError: the observation is not what the scene promises.
        """
        begun = time.perf_counter()
        observation = Observation(
            sensors.stamp_ns * 1e-9, sensors.images, sensors.state, instruction, sensors.history, goal_id
        )
        answer = np.asarray(self._policy.predict(self._observation_adapter.batch([observation])))
        if answer.shape != self._shape or answer.dtype.kind != "f":
            raise PolicyError(
                f"{self._name}: the policy answered {answer.dtype} {answer.shape}, its manifest promises float32 "
                f"{self._shape} (batch, chunk_size, action_contract.dim); correct the manifest or the weights"
            )
        data = self._action_adapter(answer[0])
        latency = time.perf_counter() - begun
        return PolicyChunk(goal_id, instruction, sequence, sensors.stamp_ns, sensors.frame_id, data, latency)

    def warm_up(self, sensors: SensorSet, instruction: str) -> float:
        """Reset and infer once, so that the first goal pays no one-time cost; return the latency [s] of inferring.

        Raises:
            PolicyError, ContractError: as `chunk`.
        """
        history = [StepView(sensors.images, sensors.state)] * len(self._observation_adapter.history)
        self.reset(WARM_UP)
        return self.chunk(replace(sensors, history=history), WARM_UP, instruction, 0).latency_s

    def close(self) -> None:
        """Close the policy."""
        self._policy.close()
