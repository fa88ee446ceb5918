"""Reading of the folder of a finished run: attempts with their curves and last images, and the run's settings.

`run.json` is written at the begin of a run, images at the end of an attempt, and the mission's files by the reasoner.
Each of them may be missing, as in a run that was interrupted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openral_core.files.atomic import write_atomically
from openral_core.mission_record import RecordedStep

FACTS_FILE = "run.json"
FILM_FILE = "mission.mp4"
FILM_BEGIN = "film_begin_s"
"""Key in `run.json`: the moment [s, node clock] that the film's first frame shows."""
PICTURES = "pictures"
"""Folder of the last pictures of attempts."""
ENDS = ("verdict", "mission", "stop")
"""Kinds of steps that end an attempt; the first of them tells how."""


@dataclass
class AttemptRecord:
    """One attempt at a task."""

    mission: str
    task: int
    """Index of the task in its mission."""
    number: int
    """From 1, within the task."""
    text: str
    began_s: float
    """[s] node clock."""
    reason: str
    ended_s: float | None = None
    """[s] node clock; None: it was going on when the record ended."""
    verdict: str = ""
    readings: list[RecordedStep] = field(default_factory=list)
    interventions: list[tuple[float, float | None]] = field(default_factory=list)
    """[s] node clock, when an operator took the arm, and gave it back."""


def attempts_of(steps: Sequence[RecordedStep]) -> list[AttemptRecord]:
    """Return the attempts that the steps of a run folder tell of, in their order."""
    attempts: list[AttemptRecord] = []
    now: AttemptRecord | None = None
    for step in steps:
        if step.kind == "attempt":
            now = AttemptRecord(step.mission, step.task, step.attempt, step.text, step.stamp_s, step.reason)
            attempts.append(now)
        elif now is not None and step.kind == "reading":
            now.readings.append(step)
        elif now is not None and step.kind == "intervention":
            _intervened(now, step.stamp_s)
        elif now is not None and step.kind in ENDS:
            now.ended_s, now.verdict, now = step.stamp_s, step.reason, None
    return attempts


def decisions_of(steps: Sequence[RecordedStep]) -> Iterator[RecordedStep]:
    """Yield the steps that are no readings."""
    return (step for step in steps if step.kind != "reading")


def picture_path(run_dir: Path, mission: str, task: int, attempt: int) -> Path:
    """Return where the last picture of an attempt lies; ids of missions are anybody's words, and name no file."""
    name = hashlib.sha256(mission.encode()).hexdigest()[:12]
    return run_dir / PICTURES / f"{name}-{task}-{attempt}.png"


def load_facts(run_dir: Path) -> dict[str, Any]:
    """Return what a run was run with; empty: nobody wrote it down, or it cannot be read."""
    try:
        facts = json.loads((run_dir / FACTS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def number_of(facts: Mapping[str, Any], *keys: str) -> float | None:
    """Return a number of what `load_facts` has read, by its keys from the outside in; None: it is no finite one."""
    found: Any = facts
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    try:
        return float(found) if math.isfinite(found) else None
    except OverflowError:  # a whole number beyond all floats
        return None


def _intervened(attempt: AttemptRecord, stamp_s: float) -> None:
    if attempt.interventions and attempt.interventions[-1][1] is None:
        attempt.interventions[-1] = attempt.interventions[-1][0], stamp_s
    else:
        attempt.interventions.append((stamp_s, None))


def add_facts(run_dir: Path, **facts: Any) -> None:
    """Write more of what is known of a run into its `run.json`.

    A file that holds no JSON object is kept beside the new one, as `run.json.damaged`.

    Raises:
        OSError: it cannot be read or written.
    """
    path = run_dir / FACTS_FILE
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = {}
    except (ValueError, RecursionError):
        known = None
    if not isinstance(known, dict):
        path.replace(path.with_name(f"{FACTS_FILE}.damaged"))
        known = {}
    write_atomically(path, json.dumps({**known, **facts}, indent=2) + "\n")
