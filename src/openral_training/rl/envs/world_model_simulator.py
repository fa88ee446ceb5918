"""A world model as `Simulators`: it predicts the outputs that the simulators would return for the same inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_training.rl.envs.env_group import VecEnvSpec, in_order
from openral_training.rl.envs.episode_trajectory import EpisodeRequest
from openral_training.rl.envs.observation_encoder import StateEncoder
from openral_training.rl.envs.vec_env import EnvInput, EnvOutput
from openral_training.world_model.checkpoint import trained_init_ids
from openral_training.world_model.env import ImaginedChunk, WorldModelEnv
from openral_training.world_model.open import open_world_model


class WorldModelSimulator:
    """Simulators whose environments are predicted by a world model in this process, as one batch."""

    replaced = 0

    def __init__(self, vec_env_spec: VecEnvSpec, folder: Path, chunk: int, held_out: Collection[int]) -> None:
        """Load the model.

        Args:
            vec_env_spec: which environments; the simulators of their scenes are not built.
            folder: of the world model.
            chunk: C, control steps of one decision of the policy.
            held_out: initial states of the run's evaluations.

        Raises:
            OpenralError: the model cannot be loaded, does not predict the state that the policy acts on, or was trained
                on a state of the evaluations.
        """
        self.vec_env_spec = vec_env_spec
        model, starts, scale = open_world_model(folder)
        if not model.state_dim:
            raise ContractError(
                f"{folder}: imagines images without a state, on which the policy acts; train a world model by "
                "`openral train world-model`"
            )
        if model.chunk != chunk:
            raise ContractError(
                f"actor.model.chunk: is {chunk}, and {folder} imagines {model.chunk} actions at once; "
                f"set actor.model.chunk to {model.chunk}"
            )
        if shared := sorted(trained_init_ids(folder, starts, ()) & set(held_out)):
            raise ContractError(
                f"env.eval.init_ids: {folder} was trained on {len(shared)} of them ({shared[0]} …); evaluate on "
                "others, or train a world model on rollouts of this config"
            )
        self._encoder = StateEncoder(vec_env_spec.scenes)
        self._env = WorldModelEnv(
            model, starts, scale, num_envs=vec_env_spec.num_envs, horizon=vec_env_spec.horizon
        )
        self._tasks = {
            slot: task
            for stage in range(vec_env_spec.stages)
            for slot, task in vec_env_spec.slots(stage).items()
        }
        self._outputs: dict[int, dict[int, EnvOutput]] = {}

    def begin(self) -> None:
        """Do nothing: inputs are executed when they are submitted."""

    def submit(self, stage: int, inputs: Mapping[int, EnvInput]) -> None:
        """Execute inputs and keep the outputs."""
        chunks = {slot: entry for slot, entry in inputs.items() if not isinstance(entry, EpisodeRequest)}
        outputs: dict[int, EnvOutput] = {}
        if chunks:
            imagined = self._env.chunk_step(np.stack(list(chunks.values())), list(chunks))
            outputs |= {slot: self._output(slot, row, imagined) for row, slot in enumerate(chunks)}
        for slot, entry in inputs.items():
            if isinstance(entry, EpisodeRequest):
                (state,) = self._env.reset([entry.task], [entry.init_id], [slot], [entry.seed])
                begun = repr((entry.task, entry.init_id)).encode() + state.tobytes()
                outputs[slot] = EnvOutput(self._observation(slot, state), hashlib.sha256(begun).hexdigest())
        self._outputs[stage] = outputs

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return the outputs of the stage's last inputs, by slot."""
        return in_order(self._outputs.pop(stage))

    def close(self) -> None:
        """Do nothing: the environments are tensors."""

    def _output(self, slot: int, row: int, imagined: ImaginedChunk) -> EnvOutput:
        last = int(imagined.executed[row].sum()) - 1
        return EnvOutput(
            self._observation(slot, imagined.states[row, last]),
            "",
            imagined.rewards[row],
            imagined.executed[row],
            bool(imagined.success[row] or imagined.truncated[row] or imagined.aborted[row]),
            aborted=bool(imagined.aborted[row]),
        )

    def _observation(self, slot: int, state: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._encoder.observation(state, self._tasks[slot])
