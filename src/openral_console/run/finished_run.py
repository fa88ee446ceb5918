"""The state of a finished run at any time, from the reasoner's record in its folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from openral_console.live.deployment import MAX_STEPS
from openral_console.live.views import ReadingView, SkillView
from openral_core.cli.printable import MAX_SHOWN, plain_line
from openral_core.errors import NotFoundError
from openral_core.files.finished_run_folder import (
    FACTS_FILE,
    FILM_BEGIN,
    FILM_FILE,
    AttemptRecord,
    attempts_of,
    load_facts,
    number_of,
    picture_path,
)
from openral_core.mission_record import (
    MISSION_FILE,
    RecordedMission,
    RecordedStep,
    RecordedTask,
    load_mission,
    load_steps,
)
from openral_core.process.launched_deployment import LAUNCH_LOG

ENDED = ("done", "failed", "stopped")
"""States of a mission that has ended."""


class FinishedRun:
    """Reads a run's folder once."""

    def __init__(self, run_dir: Path) -> None:
        """Read the record.

        Raises:
            NotFoundError: it is no folder of a run, or has no mission.
            ManifestError: the record was altered.
        """
        signs = (MISSION_FILE, FACTS_FILE, LAUNCH_LOG)
        if run_dir.is_dir() and not any((run_dir / name).exists() for name in signs):
            raise NotFoundError(f"{run_dir} is no folder of a run: none of {', '.join(signs)} is in it")
        self.run_dir = run_dir
        self._mission, self._steps = load_mission(run_dir), load_steps(run_dir)
        self.facts = load_facts(run_dir)
        self.attempts = attempts_of(self._steps)
        self._threshold = number_of(self.facts, "thresholds", "success_threshold") or 0.0
        self._film_begin_s = number_of(self.facts, FILM_BEGIN)

    @property
    def film(self) -> Path | None:
        """File of the film; None: there is none, or its time of beginning was not recorded."""
        path = self.run_dir / FILM_FILE
        return path if path.is_file() and self._film_begin_s is not None else None

    def film_at(self, stamp_s: float) -> float:
        """Return the time [s] in the film at a stamp [s] of the run; 0 before the film begins."""
        return max(0.0, stamp_s - (self._film_begin_s or 0.0))

    @property
    def begin_s(self) -> float:
        """[s] node clock, of the earliest step, which is not the first one where the clock began anew."""
        return min((step.stamp_s for step in self._steps), default=0.0)

    @property
    def end_s(self) -> float:
        """[s] node clock, of the latest step."""
        return max((step.stamp_s for step in self._steps), default=0.0)

    def slider_ends(self, step_s: float) -> tuple[float, float]:
        """Return the ends [s] of a slider of a browser that reaches begin and end of the run.

        It stops at whole steps [s] alone: dragged to its end, one that ended with the run may stop before it.
        """
        return math.floor(self.begin_s / step_s) * step_s, math.ceil(self.end_s / step_s + 1e-3) * step_s

    def steps_at(self, stamp_s: float) -> tuple[RecordedStep, ...]:
        """Return the newest decisions up to a moment [s], without readings."""
        shown = [step for step in self._steps if step.stamp_s <= stamp_s and step.kind != "reading"]
        return tuple(shown[-MAX_STEPS:])

    def readings_at(self, stamp_s: float) -> tuple[ReadingView, ...]:
        """Return the readings up to a moment [s], each with its attempt as its goal."""
        return tuple(
            self._view(attempt, reading)
            for attempt in self.attempts
            for reading in attempt.readings
            if reading.stamp_s <= stamp_s
        )

    def mission_at(self, stamp_s: float) -> RecordedMission:
        """Return the mission as it stood at a moment [s]: the newest one of the run, and none before it began."""
        mine = [step for step in self._steps if step.mission == self._mission.id and step.stamp_s <= stamp_s]
        if stamp_s >= self.end_s:
            return self._mission
        if not mine:
            return self._changed(state="idle", text="", message="", tasks=())
        state = next((step.outcome for step in reversed(mine) if step.kind == "mission"), "active")
        planned = any(step.kind in ("plan", "attempt") for step in mine)
        tasks = tuple(_task_at(task, number, mine) for number, task in enumerate(self._mission.tasks))
        words = next((step.reason for step in reversed(mine) if step.kind != "reading"), "")
        return self._changed(
            state=state if state in ENDED else "active",
            message=plain_line(words, MAX_SHOWN),
            question="",
            answers=(),
            tasks=tasks if planned else (),
        )

    def attempt_at(self, stamp_s: float) -> AttemptRecord | None:
        """Return the attempt that had begun last at a moment [s]; None: none had."""
        return next((each for each in reversed(self.attempts) if each.began_s <= stamp_s), None)

    def picture(self, attempt: AttemptRecord) -> Path | None:
        """Return the file with the last picture of an attempt; None: it was not kept."""
        path = picture_path(self.run_dir, attempt.mission, attempt.task, attempt.number)
        return path if path.is_file() else None

    def skills(self) -> dict[str, SkillView]:
        """Return the skills that the run had, by name, with their licences."""
        recorded = self.facts.get("skills")
        views = (
            [_skill(each) for each in recorded if isinstance(each, dict)]
            if isinstance(recorded, list)
            else []
        )
        return {view.name: view for view in views}

    def _changed(self, **changes: Any) -> RecordedMission:
        return self._mission.model_copy(update=changes)

    def _view(self, attempt: AttemptRecord, reading: RecordedStep) -> ReadingView:
        return ReadingView(
            stamp_s=reading.stamp_s,
            goal=f"{attempt.mission}/{attempt.task}/{attempt.number}",
            task=plain_line(reading.text),
            camera="",
            progress=reading.progress,
            success=reading.success,
            threshold=self._threshold,
            abstained=False,
            remark="",
        )


def _task_at(task: RecordedTask, number: int, steps: list[RecordedStep]) -> RecordedTask:
    mine = [step for step in steps if step.task == number]
    if not mine:
        return task.model_copy(update={"state": "pending", "attempts": 0, "progress": -1.0, "outcome": ""})
    last, seen = mine[-1], [step for step in mine if step.kind == "reading"]
    is_over = last.outcome == task.state
    return task.model_copy(
        update={
            "state": last.outcome,
            "attempts": max(step.attempt for step in mine),
            "progress": seen[-1].progress if seen else -1.0,
            "success": seen[-1].success if seen else -1.0,
            "outcome": task.outcome if is_over else "",
        }
    )


def _skill(facts: dict[str, Any]) -> SkillView:
    def text(name: str) -> str:
        return plain_line(str(facts.get(name, "")))

    return SkillView(
        name=text("name"),
        version=text("version"),
        kind=text("kind"),
        state="",
        license=text("license"),
        commercial_use=bool(facts.get("commercial_use")),
        running=False,
        node="",
    )
