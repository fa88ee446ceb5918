"""The environments of one process: inputs by slot in, outputs by slot out.

Nothing here depends on the policy or the algorithm. A slot is one environment. Its input is the request of an episode
to begin, or a chunk of actions to execute. Between two inputs the simulator stands still, so no result depends on how
long inference takes.
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
from openral_training.rl.envs.episode_trajectory import EpisodeRequest
from openral_training.rl.envs.observation_encoder import ObservationEncoder


@dataclass(frozen=True)
class EnvSpec:
    """Environments of one task."""

    scene: DeployScene
    task: str
    slots: tuple[int, ...]
    """Numbers of the environments, unique in a run."""


EnvInput = EpisodeRequest | NDArray[np.float32]
"""An episode to begin, or a chunk of actions (C, A) to execute."""


@dataclass(frozen=True)
class EnvOutput:
    """The result of one input."""

    observation: NDArray[Any]
    """(D,)"""
    state_digest: str = ""
    """SHA-256 of the initial state, where an episode was begun."""
    rewards: NDArray[np.float64] | None = None
    """(C,) where a chunk was executed."""
    executed: NDArray[np.bool_] | None = None
    """(C,) whether each control step was executed, where a chunk was."""
    ended: bool = False
    """Whether the episode is over: solved, truncated at the horizon, or aborted."""
    image: NDArray[np.uint8] | None = None
    """(H, W, 3) RGB of the scene's first camera, where the request says `keep_images`."""
    aborted: bool = False
    """Whether a world model aborted the episode, because it is too uncertain about the state that was reached."""


class VecEnv:
    """All environments that one process has for one pipeline stage."""

    def __init__(self, env_specs: Sequence[EnvSpec], encoder: ObservationEncoder, horizon: int) -> None:
        """Build the environments.

        Args:
            env_specs: environments to build, by task.
            encoder: returns observations.
            horizon: control steps after which an episode is truncated.

        Raises:
            OpenralError: the simulator of a scene could not be built.
        """
        self._encoder, self._horizon = encoder, horizon
        self._env_specs = [
            (env_spec, make_backend(env_spec.scene, num_envs=len(env_spec.slots))) for env_spec in env_specs
        ]
        self._steps: dict[int, int] = {}
        """Executed control steps of the current episode, by slot."""
        self._with_images: set[int] = set()
        """Slots whose current episode keeps images."""

    def step(self, inputs: Mapping[int, EnvInput]) -> dict[int, EnvOutput]:
        """Execute inputs by slot and return an output for each."""
        outputs: dict[int, EnvOutput] = {}
        for env_spec, backend in self._env_specs:
            own = {slot: inputs[slot] for slot in env_spec.slots if slot in inputs}
            chunks = {slot: entry for slot, entry in own.items() if not isinstance(entry, EpisodeRequest)}
            if chunks:
                outputs |= self._execute(env_spec, backend, chunks)
            for slot, entry in own.items():
                if isinstance(entry, EpisodeRequest):
                    outputs[slot] = self._begin(env_spec, backend, slot, entry)
        return outputs

    def close(self) -> None:
        """Close the simulators; to be called once."""
        for _, backend in self._env_specs:
            backend.close()

    def _begin(self, env_spec: EnvSpec, backend: Backend, slot: int, request: EpisodeRequest) -> EnvOutput:
        """Reset an environment to the initial state of an episode."""
        env = env_spec.slots.index(slot)
        [state] = backend.reset([request.task], [request.init_id], [env])
        self._steps[slot] = 0
        (self._with_images.add if request.keep_images else self._with_images.discard)(slot)
        observation = self._encoder.encode(backend, env, request.task, state)
        simulated = repr((request.task, request.init_id)).encode() + backend.snapshot(env).qpos.tobytes()
        digest = hashlib.sha256(simulated + observation.tobytes()).hexdigest()
        return EnvOutput(observation, digest, image=self._image(env_spec, backend, slot))

    def _execute(
        self, env_spec: EnvSpec, backend: Backend, chunks: Mapping[int, NDArray[np.float32]]
    ) -> dict[int, EnvOutput]:
        """Execute one chunk in each environment that has one, control step by control step, until its episode ends.

        An environment whose episode has ended is not stepped on, so its observation is that of the episode's end.
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
            observation = self._encoder.encode(backend, env, env_spec.task, states[slot])
            image, ended = self._image(env_spec, backend, slot), slot not in running
            outputs[slot] = EnvOutput(observation, "", rewards[slot], executed[slot], ended, image)
        return outputs

    def _image(self, env_spec: EnvSpec, backend: Backend, slot: int) -> NDArray[np.uint8] | None:
        if slot not in self._with_images:
            return None
        camera = env_spec.scene.cameras[0].name
        image: NDArray[np.uint8] = backend.render([camera], [env_spec.slots.index(slot)])[camera][0]
        return image
