"""Runs blocks of episodes with a pool: a policy, many worlds, and rows that do not depend on who ran them.

A block is run by one worker, whose worlds share the batches of the policy; which episodes share a batch is decided by
the block alone. So the rows are the same for any number of workers, and while one worker's batch is inferred the
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
from openral_sim_bridge.rollout import Round
from openral_sim_bridge.trace import Trace

LOOK_S = 1.0
"""How often workers that say nothing are looked at [s]."""
WORLDS_SHARE = 2.0
"""How much longer a worker is waited for than the policy: where the policy hangs, that has to be found out first."""


@dataclass(frozen=True)
class RunCost:
    """What a run cost; no part of its rows."""

    batches: int = 0
    """Inferences, those of work that was run again included."""
    observations: int = 0
    """Of all batches."""
    lost: int = 0
    """How often work was run again because a process was gone."""
    simulated_s: float = 0.0
    """[s] Of all workers, in blocks that came to their end: stepping, drawing, and all else but the policy."""
    inferred_s: float = 0.0
    """[s] In which the policy worked for them."""
    waited_s: float = 0.0
    """[s] In which they waited for a policy that worked for others, or for the wire."""

    @property
    def mean_batch(self) -> float:
        """Observations a batch."""
        return self.observations / self.batches if self.batches else 0.0

    def record(self) -> dict[str, float]:
        """Return them as results hold them."""
        rounded = {name: round(value, 3) for name, value in asdict(self).items()}
        return {**rounded, "mean_batch": round(self.mean_batch, 2)}


class Engine:
    """Hands blocks to a pool and watches it. Used once."""

    def __init__(
        self,
        pool: EpisodePool,
        blocks: Sequence[Block],
        *,
        patience_s: float,
        keep: Callable[[BenchmarkScene, Trace], None] = lambda scene, trace: None,
    ) -> None:
        """Begin with nothing done.

        Args:
            pool: runs them; is left open.
            blocks: what is to be run.
            patience_s: [s] that a policy may take for a batch; a worker is cut off when it gave no sign of life for
                twice as long.
            keep: called with the trace of each episode that is traced, when it has ended.
        """
        self.statistics = RunCost()
        self.last = ""
        """Task of the newest row."""
        self._pool, self._queue, self._patience_s, self._keep = pool, EpisodeQueue(blocks), patience_s, keep
        self._works: dict[int, Work] = {}
        self._scenes: dict[int, BenchmarkScene] = {}
        """What each worker's simulator shows."""

    @property
    def episodes(self) -> int:
        """How many came to an end, marked ones included."""
        return self._queue.episodes + sum(len(work.rows) for work in self._works.values())

    @property
    def solved(self) -> int:
        """How many of them succeeded."""
        rows = (row for work in self._works.values() for row in work.rows.values())
        return self._queue.solved + sum(row.success for row in rows)

    def run(self) -> Iterator[list[list[EpisodeEntry]]]:
        """Yield at any progress: the entries of the blocks that ended since, in whatever order they end, often none.

        Raises:
            PolicyError: the policy was lost and cannot be loaded anew.
        """
        while self._works or not self._queue.empty:
            self._hand_out()
            for worker, event in self._pool.events(LOOK_S):
                self._told(worker, event)
                yield self._queue.whole()
            for worker in [w for w, work in self._works.items() if time.monotonic() > work.deadline]:
                self._replace(worker)
                words = f"cut off: the worlds were silent for {WORLDS_SHARE * self._patience_s:g} s"
                self._queue.failed(self._works.pop(worker), words)
                yield self._queue.whole()

    def _hand_out(self) -> None:
        for worker in range(self._pool.size):
            if worker in self._works or not self._pool.ready(worker):
                continue
            work = self._queue.take(self._scenes.get(worker))
            if work is None:
                return
            self._works[worker], self._scenes[worker] = work, work.scene
            self._pool.assign(worker, work.scene, work.jobs)

    def _told(self, worker: int, event: Event) -> None:
        if isinstance(event, Started):
            self._alive(worker)
        elif isinstance(event, Round):
            self._alive(worker)
            self._note(self._works[worker], event)
        elif isinstance(event, Finished):
            self._spent(event)
            self._queue.ended(self._works.pop(worker))
        elif isinstance(event, WorkerLost):
            self._lost(worker, event)
        elif isinstance(event, TimedOut):
            self._pool.replace_policy(worker)
            self._queue.failed(self._works.pop(worker), event.reason)
        elif isinstance(event, Failed):
            if not event.worlds_sound:
                self._replace(worker)
            self._queue.failed(self._works.pop(worker), event.reason)

    def _note(self, work: Work, now: Round) -> None:
        self._queue.note(work, now)
        count = self.statistics
        self.statistics = replace(
            count,
            batches=count.batches + bool(now.running),
            observations=count.observations + len(now.running),
        )
        for row in now.finished.values():
            self.last = row.task
        for trace in now.traces.values():
            self._keep(work.scene, trace)

    def _spent(self, block: Finished) -> None:
        count = self.statistics
        self.statistics = replace(
            count,
            simulated_s=count.simulated_s + block.total_s - block.asked_s,
            inferred_s=count.inferred_s + block.inferred_s,
            waited_s=count.waited_s + block.asked_s - block.inferred_s,
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

    def _alive(self, worker: int) -> None:
        self._works[worker].deadline = time.monotonic() + WORLDS_SHARE * self._patience_s
