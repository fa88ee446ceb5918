"""The component `env`: worlds by slot and pipeline stage, in this process or in others.

A placement answers the same orders with the same outputs wherever its worlds are; which process has which world changes
nothing. Another placement is another class with these few methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from openral_core.scene import BenchmarkScene
from openral_training.rl.envs.observation_encoder import EncoderFactory, ObservationEncoder, StateEncoder
from openral_training.rl.envs.vec_env import EnvOutput, EnvSpec, Order, VecEnv


@dataclass(frozen=True)
class VecEnvSpec:
    """The worlds of a run, before anybody has built one."""

    scenes: Mapping[str, BenchmarkScene]
    """By task."""
    worlds: int
    """Of all tasks and stages together."""
    stages: int
    """Parts that take turns."""
    horizon: int
    """Control steps until an episode is cut off."""
    encoder_factory: EncoderFactory = StateEncoder
    """Makes what is seen of them."""

    @property
    def encoder(self) -> ObservationEncoder:
        """What is seen of them, made anew."""
        return self.encoder_factory(self.scenes)

    def part(self, parts: int) -> VecEnvSpec:
        """Return one of so many equal parts."""
        return replace(self, worlds=self.worlds // parts)

    def slots(self, stage: int) -> dict[int, str]:
        """Return the task of each slot of a stage."""
        each = self.worlds // (len(self.scenes) * self.stages)
        numbers = range(stage * self.worlds // self.stages, (stage + 1) * self.worlds // self.stages)
        return dict(zip(numbers, (task for task in self.scenes for _ in range(each)), strict=True))

    def env_specs(self, stage: int, process: int = 0, processes: int = 1) -> list[EnvSpec]:
        """Return one process's part of a stage: every so many-th world of each task."""
        found = []
        for task, scene in self.scenes.items():
            mine = [slot for slot, name in self.slots(stage).items() if name == task]
            if part := mine[process::processes]:
                found.append(EnvSpec(scene, task, tuple(part)))
        return found

    def vec_envs(self, process: int = 0, processes: int = 1) -> list[VecEnv]:
        """Build one process's worlds, a VecEnv a stage."""
        return [
            VecEnv(self.env_specs(stage, process, processes), self.encoder, self.horizon)
            for stage in range(self.stages)
        ]


class Simulators(Protocol):
    """Worlds that are given orders, one stage after the other."""

    @property
    def vec_env_spec(self) -> VecEnvSpec:
        """Which worlds they are."""
        ...

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew."""
        ...

    def begin(self) -> None:
        """Forget what was ordered: a new collection begins, and every slot's next order is an attempt."""
        ...

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """Give orders by slot; comes back at once where worlds are elsewhere."""
        ...

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return the outputs of the stage's last orders, in the order of slots.

        Raises:
            SimulationError: a world failed, or its process is lost again and again.
        """
        ...

    def close(self) -> None:
        """End everything; called once."""
        ...


class InProcess:
    """Simulators in this process, whose worlds are stepped when they are given orders."""

    replaced = 0

    def __init__(self, vec_env_spec: VecEnvSpec) -> None:
        """Build every world."""
        self.vec_env_spec = vec_env_spec
        self._vec_envs = vec_env_spec.vec_envs()
        self._outputs: dict[int, dict[int, EnvOutput]] = {}

    def begin(self) -> None:
        """Begin a new collection; nothing has to be forgotten here."""

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """Carry out orders at once and keep the outputs."""
        self._outputs[stage] = self._vec_envs[stage].perform(orders)

    def collect(self, stage: int) -> dict[int, EnvOutput]:
        """Return the outputs of the stage's last orders, by slot."""
        return in_order(self._outputs.pop(stage))

    def close(self) -> None:
        """Free the worlds."""
        for vec_env in self._vec_envs:
            vec_env.close()


def in_order(outputs: Mapping[int, EnvOutput]) -> dict[int, EnvOutput]:
    """Return outputs in the order of their slots, so that no batch depends on who answered first."""
    return {slot: outputs[slot] for slot in sorted(outputs)}


def stage_orders(orders: Mapping[int, Order], env_specs: Sequence[EnvSpec]) -> dict[int, Order]:
    """Return those of a stage's orders that are for one process."""
    return {slot: orders[slot] for env_spec in env_specs for slot in env_spec.slots if slot in orders}
