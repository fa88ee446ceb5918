"""Infers a chunk of actions from a synchronised observation: adapters, policy, checks, timing. No threads, no ROS."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

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
"""Episode id under which the policy is warmed up."""


@dataclass(frozen=True)
class SensorSet:
    """Camera images and robot state of one instant."""

    stamp_ns: int
    """[ns] stamp of the state, on the bridge's clock.

    A simulator bridge gives the images the same stamp; those of a real arm's cameras differ by up to `arm.pairing_s`.
    """
    images: Mapping[str, Image]
    """By the camera's name in the scene."""
    state: RobotState
    frame_id: str = "world"
    """Frame of the end-effector pose, and so of Cartesian actions."""
    history: Sequence[StepView] = ()
    """The instants that the skill observes, this one included; see `Observation.history`."""


@dataclass(frozen=True)
class PolicyChunk:
    """H actions that answer one observation of one goal."""

    goal_id: str
    """Hex UUID of the goal."""
    instruction: str
    sequence: int
    """Index of the chunk in the goal, from 0."""
    stamp_ns: int
    """[ns] stamp of the observation that it answers."""
    frame_id: str
    """Frame of Cartesian actions."""
    data: NDArray[np.float32]
    """(H, A) in the scene's action contract; values that are not finite remain, and the bridge rejects the chunk."""
    latency_s: float
    """[s] wall time from observation to chunk."""
    end: GoalEnd | None = None
    """How the skill itself ended the goal, in which case H is 0; always None for policies."""


@runtime_checkable
class ServedPolicy(Protocol):
    """A policy that calls a server with deadlines of its own."""

    @property
    def deadline_s(self) -> float:
        """[s] deadline of the last call of the model, which is longer for the first one of a server; 0: none so far."""
        ...


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

    @property
    def deadline_s(self) -> float:
        """[s] deadline that the policy itself gives the running inference; 0: none."""
        return self._policy.deadline_s if isinstance(self._policy, ServedPolicy) else 0.0

    def new_history(self) -> FrameHistory[StepView]:
        """Return an empty history of the instants that the skill observes, for one goal."""
        return FrameHistory(self._observation_adapter.history)

    def step_of(self, stamp_ns: int) -> int:
        """Return the index of the control step at a stamp [ns], by which histories are indexed."""
        return round(stamp_ns * 1e-9 * self._control_hz)

    def reset(self, goal_id: str) -> None:
        """Reset the policy for a goal that begins.

        Raises:
            PolicyError: the policy cannot be reached.
        """
        self._policy.reset([goal_id])

    def chunk(self, sensors: SensorSet, goal_id: str, instruction: str, sequence: int) -> PolicyChunk:
        """Infer one chunk.

        Raises:
            PolicyError: the policy failed, or its answer has another shape than the manifest declares.
            ContractError: the observation does not fit the scene.
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
        """Reset and infer once, so that no goal pays one-time costs; return the latency [s] of the inference.

        Raises:
            PolicyError, ContractError: as `chunk`.
        """
        history = [StepView(sensors.images, sensors.state)] * len(self._observation_adapter.history)
        self.reset(WARM_UP)
        return self.chunk(replace(sensors, history=history), WARM_UP, instruction, 0).latency_s

    def close(self) -> None:
        """Close the policy."""
        self._policy.close()
