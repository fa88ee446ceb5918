"""Worlds in processes of their own. One that dies or hangs is replaced, and nothing is lost.

A world depends on its orders alone, so a new process that is given all orders of the present collection again stands
where the lost one stood, to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openral_training.rl.envs.simulators import Grounds, in_order, stage_orders
from openral_training.rl.envs.vec_env import Order, View
from openral_training.rl.workers.restarting_worker import LastingLines
from openral_training.rl.workers.worker_handle import Launcher, Line

PATIENCE_S = 120.0
"""[s] of silence after which a process that has its worlds is given up."""


class WorldServant:
    """See `lines.Servant`: every so many-th of the worlds."""

    def __init__(self, grounds: Grounds, number: int, processes: int) -> None:
        """Build them. See `Grounds.arenas`."""
        self._arenas = grounds.arenas(number, processes)

    def __call__(self, message: tuple[int, dict[int, Order]]) -> dict[int, View]:
        """Carry out a stage's orders."""
        stage, orders = message
        return self._arenas[stage].perform(orders)

    def close(self) -> None:
        """See Servant."""
        for arena in self._arenas:
            arena.close()


class WorldPool:
    """See `simulators.Simulators`."""

    def __init__(
        self,
        grounds: Grounds,
        launcher: Launcher,
        ranks: Sequence[int],
        *,
        patience_s: float = PATIENCE_S,
        losses: int = 3,
    ) -> None:
        """Start the processes; they build their worlds while this one goes on.

        Args:
            grounds: which worlds.
            launcher: starts them.
            ranks: where, one a process.
            patience_s: [s] of silence after which one is given up.
            losses: processes that may be lost in one collection.
        """
        self.grounds = grounds
        count, stages = len(ranks), range(grounds.stages)
        self._stands = [[grounds.stands(stage, number, count) for stage in stages] for number in range(count)]

        def start(number: int) -> Line:
            return launcher.start("env", ranks[number], WorldServant, grounds, number, count)

        self._members = LastingLines(count, start, "worlds", patience_s, losses)

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of ranks."""
        return self._members.pids

    @property
    def replaced(self) -> int:
        """See Simulators."""
        return self._members.replaced

    def begin(self) -> None:
        """See Simulators."""
        self._members.begin()

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """See Simulators."""
        for member, stands in zip(self._members, self._stands, strict=True):
            if mine := stage_orders(orders, stands[stage]):
                member.send((stage, mine))

    def collect(self, stage: int) -> dict[int, View]:
        """See Simulators."""
        views: dict[int, View] = {}
        for member in self._members:
            if member.next is not None and member.next[0] == stage:
                views |= member.receive()
        return in_order(views)

    def close(self) -> None:
        """See Simulators."""
        self._members.close()
