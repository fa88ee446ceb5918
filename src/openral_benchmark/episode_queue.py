"""The queue of work and the handling of failures: every episode gets a row, or the reason why it has no result.

- Work whose worker or policy was lost is repeated as a whole, so its rows are those of a run without the loss.
- Where the simulator or the policy failed or timed out, finished rows are kept. The episodes that were running, or
  all of them where none could begin, are repeated, each alone, and one that fails again gets the reason in place of a
  result.
- After several consecutive failures of one task the rest of its episodes get that reason without being run.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from openral_benchmark.episode_log import EpisodeEntry
from openral_benchmark.plan import Block
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.rollout import EpisodeJob, EpisodeRow, Round

MAX_REPEATS = 2
"""Times that work is repeated because a process was lost; a further loss counts as a failure of the work."""
MAX_CONSECUTIVE_FAILURES = 5
"""Failures of one task, without an episode that ended between them, after which the rest of it is not run."""


@dataclass
class Work:
    """Episodes of one block that are run together."""

    block: Block
    numbers: tuple[int, ...]
    """Indices of its episodes in the block's jobs."""
    losses: int = 0
    """Times that a process was lost while the work was run."""
    running: tuple[int, ...] = ()
    """Indices in `numbers` of the episodes that are running."""
    rows: dict[int, EpisodeRow] = field(default_factory=dict)
    """Finished rows, by the index in `numbers`."""
    deadline: float = math.inf
    """[s] on the monotonic clock, by which the worker's next event is due."""
    opened: bool = False
    """Whether its simulator is open."""

    @property
    def scene(self) -> BenchmarkScene:
        """Scene of its episodes."""
        return self.block.scene

    @property
    def jobs(self) -> tuple[EpisodeJob, ...]:
        """Its episodes."""
        return tuple(self.block.jobs[number] for number in self.numbers)


class EpisodeQueue:
    """Gives out work, and collects the entries of each block until it is complete."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._waiting = deque(Work(block, tuple(range(len(block.jobs)))) for block in blocks)
        self._entries: dict[int, dict[int, EpisodeEntry]] = {block.number: {} for block in blocks}
        self._sizes = {block.number: len(block.jobs) for block in blocks}
        self._failures: Counter[str] = Counter()
        self._complete: list[list[EpisodeEntry]] = []
        self.episodes = 0
        """Entries of work that has ended, those without a result included."""
        self.solved = 0

    @property
    def empty(self) -> bool:
        """Whether no work is waiting."""
        return not self._waiting

    def take(self, scene: BenchmarkScene | None) -> Work | None:
        """Return the next work, if there is any; work of `scene`, whose simulator is open, comes first."""
        if not self._waiting:
            return None
        work = next((work for work in self._waiting if work.scene == scene), self._waiting[0])
        self._waiting.remove(work)
        return work

    def take_complete(self) -> list[list[EpisodeEntry]]:
        """Return the entries of blocks that were completed since the last call, in the order of their jobs."""
        complete, self._complete = self._complete, []
        return complete

    def add_round(self, work: Work, round_: Round) -> None:
        """Add the rows of one round of inference."""
        work.running = round_.running
        work.rows.update(round_.finished)
        if round_.finished:
            self._failures[work.scene.task.id] = 0

    def ended(self, work: Work) -> None:
        """Take the rows of work that has ended."""
        for index, row in work.rows.items():
            self._enter(work.block, work.numbers[index], EpisodeEntry(work.block.number, row))

    def lost(self, work: Work, reason: str) -> None:
        """Put back work whose process was lost, to be run again from its beginning."""
        if work.losses == MAX_REPEATS:
            self.failed(work, reason)
        else:
            self._waiting.appendleft(Work(work.block, work.numbers, work.losses + 1))

    def failed(self, work: Work, reason: str) -> None:
        """Keep the finished rows of work that failed, and put back or mark its other episodes."""
        self.ended(work)
        task = work.scene.task.id
        self._failures[task] += 1
        unfinished = [index for index in range(len(work.numbers)) if index not in work.rows]
        suspects = [work.numbers[index] for index in unfinished if index in work.running]
        others = tuple(work.numbers[index] for index in unfinished if index not in work.running)
        if not suspects:  # none could begin: any of them may be the one that cannot
            suspects, others = list(others), ()
        if len(work.numbers) == 1:
            self._mark(work.block, suspects, reason)
        else:
            if others:
                self._waiting.appendleft(Work(work.block, others))
            self._waiting.extendleft(Work(work.block, (number,)) for number in reversed(suspects))
        if self._failures[task] >= MAX_CONSECUTIVE_FAILURES:
            self._give_up(task, reason)

    def _give_up(self, task: str, reason: str) -> None:
        for work in [work for work in self._waiting if work.scene.task.id == task]:
            self._waiting.remove(work)
            why = f"not tried after {MAX_CONSECUTIVE_FAILURES} failures in a row: {reason}"
            self._mark(work.block, work.numbers, why)

    def _mark(self, block: Block, numbers: Sequence[int], reason: str) -> None:
        for number in numbers:
            self._enter(
                block, number, EpisodeEntry(block.number, EpisodeRow.lost(block.jobs[number]), reason)
            )

    def _enter(self, block: Block, number: int, entry: EpisodeEntry) -> None:
        entries = self._entries[block.number]
        entries[number] = entry
        self.episodes, self.solved = self.episodes + 1, self.solved + entry.row.success
        if len(entries) == self._sizes[block.number]:
            self._complete.append([entries[number] for number in sorted(entries)])
