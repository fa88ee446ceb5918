"""The worlds of one process: orders in, outputs out. It knows neither policies nor advantages.

An order for a slot (one world) is an attempt to begin, or a chunk of actions to execute. Between two orders the world
stands still, so nothing depends on how long a policy thinks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.scene import DeployScene
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_training.rl.envs.attempts import EpisodeRequest
from openral_training.rl.envs.observation_encoder import ObservationEncoder


@dataclass(frozen=True)
class EnvSpec:
    """Worlds of one task."""

    scene: DeployScene
    task: str
    slots: tuple[int, ...]
    """Numbers of the worlds, unique in a run."""


Order = EpisodeRequest | NDArray[np.float32]
"""An attempt to begin, or a chunk (C, A) to execute."""


@dataclass(frozen=True)
class EnvOutput:
    """What one order led to."""

    observation: NDArray[Any]
    """(D,)"""
    state: str = ""
    """Digest of the initial state, where an attempt was begun."""
    rewards: NDArray[np.float64] | None = None
    """(C,) where a chunk was executed."""
    executed: NDArray[np.bool_] | None = None
    """(C,)"""
    ended: bool = False
    """Whether the episode is over: solved, cut off at the horizon, or lost."""
    image: NDArray[np.uint8] | None = None
    """(H, W, 3) RGB of the scene's first camera, where the attempt is watched."""
    lost: bool = False
    """Whether a world model gave the episode up, since it knows nothing of where it went."""


class VecEnv:
    """All worlds that one process has for one pipeline stage."""

    def __init__(self, env_specs: Sequence[EnvSpec], encoder: ObservationEncoder, horizon: int) -> None:
        """Build the worlds.

        Args:
            env_specs: which there are.
            encoder: reads observations.
            horizon: control steps until an episode is cut off.

        Raises:
            OpenralError: the simulator of a scene could not be built.
        """
        self._encoder, self._horizon = encoder, horizon
        self._env_specs = [
            (env_spec, make_backend(env_spec.scene, num_envs=len(env_spec.slots))) for env_spec in env_specs
        ]
        self._steps: dict[int, int] = {}
        self._watched: set[int] = set()
        """Slots whose attempt is."""

    def perform(self, orders: Mapping[int, Order]) -> dict[int, EnvOutput]:
        """Carry out orders by slot and return an output for each."""
        outputs: dict[int, EnvOutput] = {}
        for env_spec, backend in self._env_specs:
            mine = {slot: orders[slot] for slot in env_spec.slots if slot in orders}
            chunks = {slot: order for slot, order in mine.items() if not isinstance(order, EpisodeRequest)}
            if chunks:
                outputs |= self._execute(env_spec, backend, chunks)
            for slot, order in mine.items():
                if isinstance(order, EpisodeRequest):
                    outputs[slot] = self._begin(env_spec, backend, slot, order)
        return outputs

    def close(self) -> None:
        """Free the worlds; called once."""
        for _, backend in self._env_specs:
            backend.close()

    def _begin(self, env_spec: EnvSpec, backend: Backend, slot: int, attempt: EpisodeRequest) -> EnvOutput:
        env = env_spec.slots.index(slot)
        [state] = backend.reset([attempt.task], [attempt.init_id], [env])
        self._steps[slot] = 0
        (self._watched.add if attempt.watched else self._watched.discard)(slot)
        observation = self._encoder.encode(backend, env, attempt.task, state)
        known = repr((attempt.task, attempt.init_id)).encode() + backend.snapshot(env).qpos.tobytes()
        digest = hashlib.sha256(known + observation.tobytes()).hexdigest()
        return EnvOutput(observation, digest, image=self._image(env_spec, backend, slot))

    def _execute(
        self, env_spec: EnvSpec, backend: Backend, chunks: Mapping[int, NDArray[np.float32]]
    ) -> dict[int, EnvOutput]:
        """Execute one chunk in each world that has one, control step by control step, until its episode ends.

        A world whose episode is over stands still, so what is seen of it is the state that the episode ended in.
        """
        length = len(next(iter(chunks.values())))
        rewards = {slot: np.zeros(length) for slot in chunks}
        executed = {slot: np.zeros(length, np.bool_) for slot in chunks}
        states: dict[int, RobotState] = {}
        running, column = list(chunks), backend.task_ids.index(env_spec.task)
        for step in range(length):
            actions = np.stack([chunks[slot][step] for slot in running])
            result = backend.step(actions, [env_spec.slots.index(slot) for slot in running])
            states |= zip(running, result.states, strict=True)
            for slot, success in zip(running, result.success[:, column], strict=True):
                self._steps[slot] += 1
                executed[slot][step], rewards[slot][step] = True, float(success)
            running = [
                slot for slot in running if not rewards[slot][step] and self._steps[slot] < self._horizon
            ]
            if not running:
                break
        outputs = {}
        for slot in chunks:
            env = env_spec.slots.index(slot)
            seen = self._encoder.encode(backend, env, env_spec.task, states[slot])
            image = self._image(env_spec, backend, slot)
            outputs[slot] = EnvOutput(seen, "", rewards[slot], executed[slot], slot not in running, image)
        return outputs

    def _image(self, env_spec: EnvSpec, backend: Backend, slot: int) -> NDArray[np.uint8] | None:
        if slot not in self._watched:
            return None
        camera = env_spec.scene.cameras[0].name
        image: NDArray[np.uint8] = backend.render([camera], [env_spec.slots.index(slot)])[camera][0]
        return image
