"""Traces of tasks that were verified after all: in which ways they had failed before, and which way then worked.

A trace holds names of a closed vocabulary alone: the skill's task, and ways to try it. Neither words of anybody nor
positions are kept, so nothing is replayed; where a thing is, is found out anew. Traces are read when an attempt came to
nothing, and only those of the same failures at the same task count. One that was altered can change the order in
which ways are tried, never which are possible, nor how often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from openral_reasoner.memory.row_file import RowFile

MAX_TRACES = 500
"""Traces of the file; those that were not seen for longest give way."""
MAX_TIMES = 1000
MAX_FAILED = 8
"""Failures of one trace; of longer stories nothing is kept."""

Way = Literal["first", "retry", "go on", "home", "restage", "other skill", "grasp", "motions"]
"""first: the attempt that was planned; the others are rungs of the ladder."""


class WayTrace(BaseModel):
    """One story of failures with a good end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    skill: str = Field(max_length=256)
    """That failed first."""
    task: str = Field(max_length=256)
    """The skill's task id; empty: it has none."""
    failed: tuple[Way, ...] = Field(min_length=1, max_length=MAX_FAILED)
    """In this order."""
    worked: Way
    times: int = Field(ge=1, le=MAX_TIMES)
    """How often it was so."""


class Traces(RowFile[WayTrace]):
    """The traces of one file, the one seen last at the end."""

    def __init__(self, path: Path | None = None) -> None:
        """Take a file that need not exist; None: nothing is kept, and nothing known."""
        super().__init__(path, WayTrace, MAX_TRACES)

    def after(self, skill: str, task: str, failed: Sequence[str]) -> Mapping[str, int]:
        """Return how often each way worked where these ways, in whatever order, had failed at a task."""
        same = [t for t in self.rows() if (t.skill, t.task) == (skill, task) and set(t.failed) == set(failed)]
        return {way: sum(t.times for t in same if t.worked == way) for way in {t.worked for t in same}}

    def add(self, skill: str, task: str, failed: Sequence[str], worked: str) -> None:
        """Keep that a task was verified by a way after others had failed."""
        story = {"skill": skill, "task": task, "failed": tuple(failed), "worked": worked}

        def told(rows: list[WayTrace]) -> list[WayTrace]:
            new = WayTrace.model_validate({**story, "times": 1})
            old = next((row for row in rows if row.model_copy(update={"times": 1}) == new), None)
            times = min(old.times + 1, MAX_TIMES) if old else 1
            return [*(row for row in rows if row is not old), new.model_copy(update={"times": times})]

        self.change(told)


def traces_beside(memory_file: Path) -> Path:
    """Return where the traces are kept that belong to a file of notes."""
    return memory_file.with_name(f"{memory_file.stem}.traces.json")
