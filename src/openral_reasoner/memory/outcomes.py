"""How often each way of trying worked, by skill and task: a small file of counts that outlives missions.

Only counts are kept, and only of rungs of the ladder with a verdict of the reward monitor: no words of anybody, no
positions, nothing that could be executed. A count that was altered can change the order in which rungs are tried, never
which are possible, nor how often.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from openral_reasoner.memory.row_file import RowFile

MAX_ROWS = 2000
"""Rows of the file; those that were not used for longest give way."""
MAX_COUNT = 1_000_000
PRIOR = 4.0
"""Attempts that the expectation without counts weighs as much as."""


class Row(BaseModel):
    """One way of trying one task with one skill."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    skill: str = Field(max_length=256)
    task: str = Field(max_length=256)
    """The skill's task id; empty: it has none."""
    rung: str = Field(max_length=32)
    """By which rung of the ladder it was tried; first: the attempt that was planned."""
    tries: int = Field(ge=1, le=MAX_COUNT)
    successes: int = Field(ge=0, le=MAX_COUNT)

    @model_validator(mode="after")
    def _is_possible(self) -> Row:
        if self.successes > self.tries:
            raise ValueError(f"{self.successes} successes in {self.tries} tries")
        return self


class Outcomes(RowFile[Row]):
    """The counts of one file, the one used last at the end."""

    def __init__(self, path: Path | None = None, *, keeps: bool = True) -> None:
        """Take a file that need not exist; None: nothing is kept, and nothing known. `keeps` as in `RowFile`."""
        super().__init__(path, Row, MAX_ROWS, keeps=keeps)

    def counted(self, skill: str, task: str, rung: str) -> tuple[int, int]:
        """Return tries and successes of a way of trying a task with a skill; zeros: it was never counted."""
        row = next((r for r in self.rows() if (r.skill, r.task, r.rung) == (skill, task, rung)), None)
        return (row.tries, row.successes) if row else (0, 0)

    def expected(self, skill: str, task: str, rung: str, prior: float, also: int = 0) -> float:
        """Return the share of successes to expect, 0 to 1: the counts, with a prior that weighs `PRIOR` attempts.

        Args:
            skill: manifest name.
            task: the skill's task id.
            rung: by which it would be tried.
            prior: share without counts.
            also: successes that count besides.
        """
        tries, successes = self.counted(skill, task, rung)
        return (successes + also + PRIOR * prior) / (tries + also + PRIOR)

    def add(self, skill: str, task: str, rung: str, success: bool) -> None:
        """Count one attempt."""

        def counted(rows: list[Row]) -> list[Row]:
            old = next((row for row in rows if (row.skill, row.task, row.rung) == (skill, task, rung)), None)
            tries, successes = (old.tries, old.successes) if old else (0, 0)
            if tries < MAX_COUNT:
                tries, successes = tries + 1, successes + success
            row = Row(skill=skill, task=task, rung=rung, tries=tries, successes=successes)
            return [*(each for each in rows if each is not old), row]

        self.change(counted)


def outcomes_beside(memory_file: Path) -> Path:
    """Return where the counts are kept that belong to a file of notes."""
    return memory_file.with_name(f"{memory_file.stem}.outcomes.json")
