"""Worlds in processes of their own. One that dies or hangs is replaced, and nothing is lost.

A world depends on its orders alone, so a new process that is given all orders of the present collection again stands
where the lost one stood, to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openral_benchmark.workers.restarting_worker import RestartingWorkers
from openral_benchmark.workers.worker import Launcher, WorkerHandle
from openral_training.rl.envs.simulators import Grounds, in_order, stage_orders
from openral_training.rl.envs.vec_env import Order, View

TIMEOUT_S = 120.0
"""[s] of silence after which a process that has its worlds is given up."""


class WorldWorker:
    """A worker that has every so many-th of the worlds."""

    def __init__(self, grounds: Grounds, number: int, processes: int) -> None:
        """Build them. See `Grounds.arenas`."""
        self._arenas = grounds.arenas(number, processes)

    def __call__(self, message: tuple[int, dict[int, Order]]) -> dict[int, View]:
        """Carry out a stage's orders."""
        stage, orders = message
        return self._arenas[stage].perform(orders)

    def close(self) -> None:
        """Free the worlds."""
        for arena in self._arenas:
            arena.close()


class WorldPool:
    """Simulators whose worlds are in processes of their own."""

    def __init__(
        self,
        grounds: Grounds,
        launcher: Launcher,
        ranks: Sequence[int],
        *,
        timeout_s: float = TIMEOUT_S,
        max_losses: int = 3,
    ) -> None:
        """Start the processes; they build their worlds while this one goes on.

        Args:
            grounds: which worlds.
            launcher: starts them.
            ranks: where, one a process.
            timeout_s: [s] of silence after which one is given up.
            max_losses: processes that may be lost in one collection.
        """
        self.grounds = grounds
        count, stages = len(ranks), range(grounds.stages)
        self._stands = [[grounds.stands(stage, number, count) for stage in stages] for number in range(count)]

        def start(number: int) -> WorkerHandle:
            return launcher.start("env", ranks[number], WorldWorker, grounds, number, count)

        self._workers = RestartingWorkers(count, start, "worlds", timeout_s, max_losses)

    @property
    def pids(self) -> list[int]:
        """Process ids, in the order of ranks."""
        return self._workers.pids

    @property
    def replaced(self) -> int:
        """How many processes were lost and started anew."""
        return self._workers.replaced

    def begin(self) -> None:
        """Begin a new collection."""
        self._workers.begin()

    def submit(self, stage: int, orders: Mapping[int, Order]) -> None:
        """Send each process its orders of a stage."""
        for worker, stands in zip(self._workers, self._stands, strict=True):
            if mine := stage_orders(orders, stands[stage]):
                worker.send((stage, mine))

    def collect(self, stage: int) -> dict[int, View]:
        """Return what the orders of a stage led to, by slot."""
        views: dict[int, View] = {}
        for worker in self._workers:
            if worker.next is not None and worker.next[0] == stage:
                views |= worker.receive()
        return in_order(views)

    def close(self) -> None:
        """End all processes."""
        self._workers.close()
