"""The component `env`: worlds by slot and pipeline stage, in this process or in others.

A placement answers the same orders with the same views wherever its worlds are; which process has which world changes
nothing. Another placement is another class with these few methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from openral_core.scene import BenchmarkScene
from openral_training.rl.envs.observation_encoder import Senses, Sight, StateSenses
from openral_training.rl.envs.vec_env import Arena, Order, Stand, View


@dataclass(frozen=True)
class Grounds:
    """The worlds of a run, before anybody has built one."""

    scenes: Mapping[str, BenchmarkScene]
    """By task."""
    worlds: int
    """Of all tasks and stages together."""
    stages: int
    """Parts that take turns."""
    horizon: int
    """Control steps until an episode is cut off."""
    sight: Sight = StateSenses
    """Makes what is seen of them."""

    @property
    def senses(self) -> Senses:
        """What is seen of them, made anew."""
        return self.sight(self.scenes)

    def part(self, parts: int) -> Grounds:
        """Return one of so many equal parts."""
        return replace(self, worlds=self.worlds // parts)

    def slots(self, stage: int) -> dict[int, str]:
        """Return the task of each slot of a stage."""
        each = self.worlds // (len(self.scenes) * self.stages)
        numbers = range(stage * self.worlds // self.stages, (stage + 1) * self.worlds // self.stages)
        return dict(zip(numbers, (task for task in self.scenes for _ in range(each)), strict=True))

    def stands(self, stage: int, process: int = 0, processes: int = 1) -> list[Stand]:
        """Return one process's part of a stage: every so many-th world of each task."""
        found = []
        for task, scene in self.scenes.items():
            mine = [slot for slot, name in self.slots(stage).items() if name == task]
            if part := mine[process::processes]:
                found.append(Stand(scene, task, tuple(part)))
        return found

    def arenas(self, process: int = 0, processes: int = 1) -> list[Arena]:
        """Build one process's worlds, an arena a stage."""
        return [
            Arena(self.stands(stage, process, processes), self.senses, self.horizon)
            for stage in range(self.stages)
        ]


class Simulators(Protocol):
    """Worlds that are given orders, one stage after the other."""

    @property
    def grounds(self) -> Grounds:
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

    def collect(self, stage: int) -> dict[int, View]:
        """Return the views of the stage's last orders, in the order of slots.

        Raises:
            SimulationError: a world failed, or its process is lost again and again.
        """
        ...

    def close(self) -> None:
        """End everything; called once."""
        ...


class InProcess:
    """See Simulators: all worlds in this process, stepped when they are given orders."""

    replaced = 0

    def __init__(self, grounds: Grounds) -> None:
        """Build every world."""
        self.grounds = grounds
        self._arenas = grounds.arenas()
        self._views: dict[int, dict[int, View]] = {}

    def begin(self) -> None:
        """See Simulators."""

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """See Simulators."""
        self._views[stage] = self._arenas[stage].perform(orders)

    def collect(self, stage: int) -> dict[int, View]:
        """See Simulators."""
        return in_order(self._views.pop(stage))

    def close(self) -> None:
        """See Simulators."""
        for arena in self._arenas:
            arena.close()


def in_order(views: Mapping[int, View]) -> dict[int, View]:
    """Return views in the order of their slots, so that no batch depends on who answered first."""
    return {slot: views[slot] for slot in sorted(views)}


def stage_orders(orders: Mapping[int, Order], stands: Sequence[Stand]) -> dict[int, Order]:
    """Return those of a stage's orders that are for one process."""
    return {slot: orders[slot] for stand in stands for slot in stand.slots if slot in orders}
