"""What is still to be run, and what becomes of episodes that went wrong: nothing is dropped, little is lost.

- Work whose worker or policy was lost is run again as a whole, so its rows are those of a run without the loss.
- Where the simulator or the policy failed or was silent, the rows that were there are kept. The episodes that ran at
  that moment are run once more, each alone, and the one that fails again gets the reason in place of a result.
- Where one task fails again and again, the rest of its episodes get that reason without being tried.
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

LOSSES = 2
"""How often work is run again because a process was lost, before that counts as its own failure."""
IN_A_ROW = 5
"""Failures of one task, with no episode that ended between, after which the rest of it is not tried."""


@dataclass
class Work:
    """Episodes of one block that are run together."""

    block: Block
    numbers: tuple[int, ...]
    """Of the block's jobs."""
    losses: int = 0
    running: tuple[int, ...] = ()
    """Places in `numbers` of what runs now."""
    rows: dict[int, EpisodeRow] = field(default_factory=dict)
    """By the place in `numbers`."""
    deadline: float = math.inf
    """On the monotonic clock [s]: when a sign of life is due."""

    @property
    def scene(self) -> BenchmarkScene:
        """Where it is run."""
        return self.block.scene

    @property
    def jobs(self) -> tuple[EpisodeJob, ...]:
        """Its episodes."""
        return tuple(self.block.jobs[number] for number in self.numbers)


class EpisodeQueue:
    """Hands out work and collects the entries of blocks until each block is whole."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._waiting = deque(Work(block, tuple(range(len(block.jobs)))) for block in blocks)
        self._entries: dict[int, dict[int, EpisodeEntry]] = {block.number: {} for block in blocks}
        self._sizes = {block.number: len(block.jobs) for block in blocks}
        self._failures: Counter[str] = Counter()
        self._whole: list[list[EpisodeEntry]] = []
        self.episodes = 0
        """Rows of work that came to an end, marked ones included."""
        self.solved = 0

    @property
    def empty(self) -> bool:
        """Whether nothing waits to be run."""
        return not self._waiting

    def take(self, scene: BenchmarkScene | None) -> Work | None:
        """Return the next work, if there is any; rather one of this scene, whose simulator is open."""
        if not self._waiting:
            return None
        work = next((work for work in self._waiting if work.scene == scene), self._waiting[0])
        self._waiting.remove(work)
        return work

    def whole(self) -> list[list[EpisodeEntry]]:
        """Return the entries of the blocks that became whole since it was last asked, in the order of their jobs."""
        whole, self._whole = self._whole, []
        return whole

    def note(self, work: Work, now: Round) -> None:
        """Take down what a worker told of its work."""
        work.running = now.running
        work.rows.update(now.finished)
        if now.finished:
            self._failures[work.scene.task.id] = 0

    def ended(self, work: Work) -> None:
        """Take the rows of work that came to its end."""
        for place, row in work.rows.items():
            self._enter(work.block, work.numbers[place], EpisodeEntry(work.block.number, row))

    def lost(self, work: Work, reason: str) -> None:
        """Put work whose process was lost back, to be run again from its beginning."""
        if work.losses == LOSSES:
            self.failed(work, reason)
        else:
            self._waiting.appendleft(Work(work.block, work.numbers, work.losses + 1))

    def failed(self, work: Work, reason: str) -> None:
        """Sort out work that failed while `work.running` ran."""
        self.ended(work)
        task = work.scene.task.id
        self._failures[task] += 1
        left = [place for place in range(len(work.numbers)) if place not in work.rows]
        suspects = [work.numbers[place] for place in left if place in work.running]
        others = tuple(work.numbers[place] for place in left if place not in work.running)
        if not suspects or len(work.numbers) == 1:  # not even one could begin, or it was alone
            self._mark(work.block, [*suspects, *others], reason)
        else:
            if others:
                self._waiting.appendleft(Work(work.block, others))
            self._waiting.extendleft(Work(work.block, (number,)) for number in reversed(suspects))
        if self._failures[task] >= IN_A_ROW:
            self._give_up(task, reason)

    def _give_up(self, task: str, reason: str) -> None:
        for work in [work for work in self._waiting if work.scene.task.id == task]:
            self._waiting.remove(work)
            self._mark(work.block, work.numbers, f"not tried after {IN_A_ROW} failures in a row: {reason}")

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
            self._whole.append([entries[number] for number in sorted(entries)])
