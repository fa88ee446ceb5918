"""Runs blocks of episodes with a pool of workers; the rows do not depend on which worker runs a block.

A block is run by one worker, whose environments share the batches of the policy, so the block alone decides which
episodes share a batch, and the rows are the same for any number of workers. While one worker's batch is inferred the
others simulate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from openral_benchmark.episode_log import EpisodeEntry
from openral_benchmark.episode_queue import EpisodeQueue, Work
from openral_benchmark.plan import Block
from openral_benchmark.workers.episode_pool import EpisodePool
from openral_benchmark.workers.events import Event, Failed, Finished, Started, TimedOut, WorkerLost
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.backends.environments import simulator_spec
from openral_sim_bridge.rollout import Round
from openral_sim_bridge.trace import Trace

POLL_S = 1.0
"""[s] between two checks of the workers' deadlines."""
WORKER_TIMEOUT_FACTOR = 2.0
"""A worker's timeout in units of the policy's; it is longer so that a policy that hangs is noticed first."""
OPENING_S = 300.0
"""[s] that a simulator may take at least until it is open, however short the timeout is while it runs."""


@dataclass(frozen=True)
class RunCost:
    """Batches and times of a run; they are no part of its rows."""

    batches: int = 0
    """Inferences, those of repeated work included."""
    observations: int = 0
    """Observations of all batches."""
    lost: int = 0
    """How often work was repeated because a process was lost."""
    simulated_s: float = 0.0
    """[s] of all workers in finished blocks without the policy: simulation, rendering and adapters."""
    inferred_s: float = 0.0
    """[s] of the policy's inference for these blocks."""
    waited_s: float = 0.0
    """[s] in which workers waited for the policy beyond its inference: queueing and transport."""

    @property
    def mean_batch(self) -> float:
        """Mean number of observations in a batch."""
        return self.observations / self.batches if self.batches else 0.0

    def record(self) -> dict[str, float]:
        """Return the entries of a result's section `engine`."""
        rounded = {name: round(value, 3) for name, value in asdict(self).items()}
        return {**rounded, "mean_batch": round(self.mean_batch, 2)}


class Engine:
    """Assigns blocks to the workers of a pool and handles their events. Used once."""

    def __init__(
        self,
        pool: EpisodePool,
        blocks: Sequence[Block],
        *,
        patience_s: float,
        keep: Callable[[BenchmarkScene, Trace], None] = lambda scene, trace: None,
    ) -> None:
        """Queue the blocks.

        Args:
            pool: runs them; it is not closed.
            blocks: of the run.
            patience_s: [s] that a policy may take for a batch; a worker that sends no event for twice as long is
                replaced, as is one whose simulator takes as long to open, and OPENING_S at least.
            keep: called with the trace of each episode that is traced, when it has ended.
        """
        self.statistics = RunCost()
        self.last = ""
        """Task of the newest row, for the progress bar."""
        self._pool, self._queue, self._keep = pool, EpisodeQueue(blocks), keep
        self._timeout_s = WORKER_TIMEOUT_FACTOR * patience_s
        self._works: dict[int, Work] = {}
        self._scenes: dict[int, BenchmarkScene] = {}
        """Scene of each worker's open simulator."""

    @property
    def episodes(self) -> int:
        """How many have ended, those without a result included."""
        return self._queue.episodes + sum(len(work.rows) for work in self._works.values())

    @property
    def solved(self) -> int:
        """How many of them succeeded."""
        rows = (row for work in self._works.values() for row in work.rows.values())
        return self._queue.solved + sum(row.success for row in rows)

    def run(self) -> Iterator[list[list[EpisodeEntry]]]:
        """Run all blocks; yield after each event the entries of the blocks that were completed by it, mostly none.

        Raises:
            PolicyError: the policy was lost and cannot be loaded anew.
        """
        while self._works or not self._queue.empty:
            self._assign()
            looked_s = time.monotonic()
            for worker, event in self._pool.events(POLL_S):
                self._handle(worker, event)
                yield self._queue.take_complete()
            # Not now: while this loaded a policy or kept a trace, events of others may have come.
            for worker in [w for w, work in self._works.items() if looked_s > work.deadline]:
                self._replace(worker)
                work = self._works.pop(worker)
                silent = f"was silent for {self._timeout_s:g} s"
                opening = f"did not open within {max(self._timeout_s, OPENING_S):g} s"
                self._queue.failed(work, f"cut off: the simulator {silent if work.opened else opening}")
                yield self._queue.take_complete()

    def _assign(self) -> None:
        """Give work to every idle worker."""
        for worker in range(self._pool.size):
            if worker in self._works or not self._pool.ready(worker):
                continue
            work = self._queue.take(self._scenes.get(worker))
            if work is None:
                return
            if simulator_spec(work.scene) is None:
                # One with an environment of its own may have to build it first, and its start has a timeout there.
                work.deadline = time.monotonic() + max(self._timeout_s, OPENING_S)
            self._works[worker], self._scenes[worker] = work, work.scene
            self._pool.assign(worker, work.scene, work.jobs)

    def _handle(self, worker: int, event: Event) -> None:
        if isinstance(event, Started):
            self._works[worker].opened = True
            self._extend_deadline(worker)
        elif isinstance(event, Round):
            self._extend_deadline(worker)
            self._add_round(self._works[worker], event)
        elif isinstance(event, Finished):
            self._add_times(event)
            self._queue.ended(self._works.pop(worker))
        elif isinstance(event, WorkerLost):
            self._lost(worker, event)
        elif isinstance(event, TimedOut):
            self._pool.replace_policy(worker)
            self._queue.failed(self._works.pop(worker), event.reason)
        elif isinstance(event, Failed):
            if not event.simulator_usable:
                self._replace(worker)
            self._queue.failed(self._works.pop(worker), event.reason)

    def _add_round(self, work: Work, round_: Round) -> None:
        self._queue.add_round(work, round_)
        cost = self.statistics
        self.statistics = replace(
            cost,
            batches=cost.batches + bool(round_.running),
            observations=cost.observations + len(round_.running),
        )
        for row in round_.finished.values():
            self.last = row.task
        for trace in round_.traces.values():
            self._keep(work.scene, trace)

    def _add_times(self, block: Finished) -> None:
        cost = self.statistics
        self.statistics = replace(
            cost,
            simulated_s=cost.simulated_s + block.total_s - block.asked_s,
            inferred_s=cost.inferred_s + block.inferred_s,
            waited_s=cost.waited_s + block.asked_s - block.inferred_s,
        )

    def _lost(self, worker: int, event: WorkerLost) -> None:
        if event.policy:
            self._pool.replace_policy(worker)
        else:
            self._replace(worker)
        self.statistics = replace(self.statistics, lost=self.statistics.lost + 1)
        self._queue.lost(self._works.pop(worker), event.reason)

    def _replace(self, worker: int) -> None:
        self._pool.replace_worker(worker)
        del self._scenes[worker]

    def _extend_deadline(self, worker: int) -> None:
        self._works[worker].deadline = time.monotonic() + self._timeout_s
