"""The component `env`: environments by slot and pipeline stage, in this process or in others.

The outputs of `Simulators` depend on the inputs alone, whichever process runs an environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from openral_core.scene import BenchmarkScene
from openral_training.rl.envs.observation_encoder import EncoderFactory, ObservationEncoder, StateEncoder
from openral_training.rl.envs.vec_env import EnvInput, EnvOutput, EnvSpec, VecEnv


@dataclass(frozen=True)
class VecEnvSpec:
    """The environments of a run, from which any process can build its share."""

    scenes: Mapping[str, BenchmarkScene]
    """Scenes, by task."""
    num_envs: int
    """Environments of all tasks and stages together; each has a slot, 0 to num_envs - 1."""
    stages: int
    """Parts of the environments that take turns."""
    horizon: int
    """Control steps after which an episode is truncated."""
    encoder_factory: EncoderFactory = StateEncoder
    """Constructs the observation encoder."""

    @property
    def encoder(self) -> ObservationEncoder:
        """A new observation encoder for these scenes."""
        return self.encoder_factory(self.scenes)

    def part(self, parts: int) -> VecEnvSpec:
        """Return one of `parts` equal parts; num_envs must be a multiple of it."""
        return replace(self, num_envs=self.num_envs // parts)

    def slots(self, stage: int) -> dict[int, str]:
        """Return the task of each slot of a stage."""
        envs_a_task = self.num_envs // (len(self.scenes) * self.stages)
        slots = range(stage * self.num_envs // self.stages, (stage + 1) * self.num_envs // self.stages)
        return dict(zip(slots, (task for task in self.scenes for _ in range(envs_a_task)), strict=True))

    def env_specs(self, stage: int, process: int = 0, processes: int = 1) -> list[EnvSpec]:
        """Return one process's share of a stage: of each task the slots `process`, `process + processes`, ..."""
        found = []
        for task, scene in self.scenes.items():
            slots = [slot for slot, name in self.slots(stage).items() if name == task]
            if share := slots[process::processes]:
                found.append(EnvSpec(scene, task, tuple(share)))
        return found

    def vec_envs(self, process: int = 0, processes: int = 1) -> list[VecEnv]:
        """Build one process's environments, one VecEnv a stage."""
        return [
            VecEnv(self.env_specs(stage, process, processes), self.encoder, self.horizon)
            for stage in range(self.stages)
        ]


class Simulators(Protocol):
    """All environments of a run, stepped one stage at a time."""

    @property
    def vec_env_spec(self) -> VecEnvSpec:
        """The environments."""
        ...

    @property
    def replaced(self) -> int:
        """Number of processes that were lost and replaced."""
        ...

    def begin(self) -> None:
        """Begin a new collection: the next input of every slot is an EpisodeRequest, and earlier inputs are dropped."""
        ...

    def submit(self, stage: int, inputs: Mapping[int, EnvInput]) -> None:
        """Send inputs by slot, without waiting where environments are in other processes."""
        ...

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return the outputs of the stage's last inputs, in the order of slots.

        Raises:
            SimulationError: a simulator failed, or too many processes were lost.
        """
        ...

    def close(self) -> None:
        """Free all resources; to be called once."""
        ...


class InProcess:
    """Simulators in this process; `submit` steps them."""

    replaced = 0

    def __init__(self, vec_env_spec: VecEnvSpec) -> None:
        """Build every environment. Raises as `VecEnv`."""
        self.vec_env_spec = vec_env_spec
        self._vec_envs = vec_env_spec.vec_envs()
        self._outputs: dict[int, dict[int, EnvOutput]] = {}

    def begin(self) -> None:
        """Do nothing: inputs are executed when they are submitted."""

    def submit(self, stage: int, inputs: Mapping[int, EnvInput]) -> None:
        """Execute inputs and keep the outputs."""
        self._outputs[stage] = self._vec_envs[stage].step(inputs)

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return the outputs of the stage's last inputs, by slot."""
        return in_order(self._outputs.pop(stage))

    def close(self) -> None:
        """Close the environments."""
        for vec_env in self._vec_envs:
            vec_env.close()


def in_order(outputs: Mapping[int, EnvOutput]) -> dict[int, EnvOutput]:
    """Return outputs in the order of their slots, so that no batch depends on which process answered first."""
    return {slot: outputs[slot] for slot in sorted(outputs)}


def stage_inputs(inputs: Mapping[int, EnvInput], env_specs: Sequence[EnvSpec]) -> dict[int, EnvInput]:
    """Return the inputs of a stage whose slots are among those of one process."""
    return {slot: inputs[slot] for env_spec in env_specs for slot in env_spec.slots if slot in inputs}
