"""How often each way of trying worked, by skill and task: a small file of counts that outlives missions.

Only counts are kept, and only of rungs of the ladder with a verdict of the reward monitor: no words of anybody, no
positions, nothing that could be executed. A count that was altered can change the order in which rungs are tried, never
which are possible, nor how often.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

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


@dataclass
class Outcomes:
    """The counts of one file. Threads and processes may share it; every write is whole or not at all."""

    path: Path | None = None
    """None: nothing is kept, and nothing known."""

    def rows(self) -> list[Row]:
        """Return the rows, the one used last at the end; a file that is none, or rows that are none, count as empty."""
        if self.path is None:
            return []
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))["rows"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []
        rows = [_row(each) for each in kept] if isinstance(kept, list) else []
        return [row for row in rows if row is not None][-MAX_ROWS:]

    def expected(self, skill: str, task: str, rung: str, prior: float) -> float:
        """Return the share of successes to expect, 0 to 1: the counts, with a prior that weighs `PRIOR` attempts."""
        row = next((r for r in self.rows() if (r.skill, r.task, r.rung) == (skill, task, rung)), None)
        tries, successes = (row.tries, row.successes) if row else (0, 0)
        return (successes + PRIOR * prior) / (tries + PRIOR)

    def add(self, skill: str, task: str, rung: str, success: bool) -> None:
        """Count one attempt. A disk that fails costs the count and nothing else."""
        if self.path is None:
            return
        try:
            with self._locked(self.path) as path:
                rows = self.rows()
                key = (skill, task, rung)
                old = next((row for row in rows if (row.skill, row.task, row.rung) == key), None)
                tries, successes = (old.tries, old.successes) if old else (0, 0)
                if tries < MAX_COUNT:
                    tries, successes = tries + 1, successes + success
                row = Row(skill=skill, task=task, rung=rung, tries=tries, successes=successes)
                self._write(path, [*(each for each in rows if each is not old), row])
        except (OSError, ValidationError):
            return

    def forget(self) -> int:
        """Delete all counts and return how many rows there were."""
        if self.path is None:
            return 0
        with self._locked(self.path) as path:
            gone = len(self.rows())
            path.unlink(missing_ok=True)
        return gone

    def _write(self, path: Path, rows: list[Row]) -> None:
        partial = path.with_suffix(".part")
        document = {"rows": [row.model_dump() for row in rows[-MAX_ROWS:]]}
        partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        os.replace(partial, path)

    @contextmanager
    def _locked(self, path: Path) -> Iterator[Path]:
        """Keep other writers out, in this process and others; the lock goes with the process that holds it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield path


def outcomes_beside(memory_file: Path) -> Path:
    """Return where the counts are kept that belong to a file of notes."""
    return memory_file.with_name(f"{memory_file.stem}.outcomes.json")


def _row(kept: Any) -> Row | None:
    try:
        return Row.model_validate(kept)
    except ValidationError:
        return None
