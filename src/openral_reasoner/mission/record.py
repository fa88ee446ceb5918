"""The record of a mission on disk: `mission.jsonl`, one step a line, and `mission.json`, the newest state.

`mission.json` holds a `RecordedMission`, and under `resume` all that a restarted node needs to go on. A mission goes on
while its disk fails: the first fault is logged, and each later step is tried again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from openral_core.errors import ManifestError
from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import check_folder, make_private
from openral_core.mission_record import MISSION_FILE, STEPS_FILE, RecordedMission, RecordedStep, RecordedTask
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState, Task

MAX_LINE_BYTES = 64 * 1024
"""[bytes] more than one step takes, whose texts are bounded."""
_TASKS = TypeAdapter(list[Task])
_log = logging.getLogger(__name__)


class MissionWriter:
    """Writes the record into a run folder. Lines are not buffered, so a killed process loses none."""

    def __init__(self, folder: Path) -> None:
        """Open the record in a folder, which is made. Raises OutputError: it cannot be written."""
        check_folder(folder, "run_dir")
        make_private(folder)
        self._final = folder / MISSION_FILE
        self._steps = (folder / STEPS_FILE).open("ab", buffering=0)
        self._complained = False
        with self._faults_logged():
            self._drop_cut_off_line(folder / STEPS_FILE)

    def step(self, entry: LogEntry, wall_time: float) -> None:
        """Append one step.

        Args:
            entry: the step.
            wall_time: [s] since the epoch.
        """
        step = RecordedStep(**asdict(entry), wall_time=round(wall_time, 3))
        line = step.model_dump_json() + "\n"
        with self._faults_logged():
            self._append(line.encode())

    def state(self, mission: Mission) -> None:
        """Replace `mission.json` as a whole by the mission as it is now."""
        with self._faults_logged():
            write_atomically(self._final, json.dumps(written(mission), indent=2) + "\n")

    def unfinished(self, log: Callable[[LogEntry], None]) -> Mission | None:
        """Return the mission that was in work when the last process ended; None: there was none.

        Args:
            log: called with the steps of the mission from now on.

        Raises:
            ManifestError: the file cannot be read as a mission.
        """
        try:
            fields = json.loads(self._final.read_text(encoding="utf-8"))
            if fields["state"] != MissionState.ACTIVE.value:
                return None
            kept = fields["resume"]
            return Mission(
                id=str(fields["id"]),
                text=str(fields["text"]),
                log=log,
                state=MissionState.ACTIVE,
                tasks=_TASKS.validate_python(kept["tasks"]),
                active_task=int(fields["active_task"]),
                message=str(fields["message"]),
                open_ended=bool(kept["open_ended"]),
                outside=bool(kept.get("outside", False)),
                stamp_s=float(kept["stamp_s"]),
                begun_s=None if kept.get("begun_s") is None else float(kept["begun_s"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
            what = " ".join(str(error).split())[:200]
            raise ManifestError(
                f"{self._final}: {type(error).__name__}: {what}; move it away to begin without its mission"
            ) from None

    def close(self) -> None:
        """Close the log; called once."""
        self._steps.close()

    def _drop_cut_off_line(self, path: Path) -> None:
        """Shorten the file to its last whole line, since the next one would be joined to what a killed process left."""
        if not path.is_file():
            return  # a device holds no lines
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_LINE_BYTES))
            begin, tail = file.tell(), file.read()
        whole = tail.rfind(b"\n") + 1
        if whole < len(tail) < MAX_LINE_BYTES + whole:
            os.ftruncate(self._steps.fileno(), begin + whole)

    def _append(self, line: bytes) -> None:
        """Write a whole line, or restore the file's former length."""
        size = os.fstat(self._steps.fileno()).st_size
        try:
            if self._steps.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(self._steps.fileno(), size)
            raise

    @contextlib.contextmanager
    def _faults_logged(self) -> Iterator[None]:
        """Suppress the faults of the disk, and log the first one."""
        try:
            yield
        except OSError as error:
            if not self._complained:
                self._complained = True
                what = "the mission goes on, and what is decided from now on may be missing there"
                _log.error("error: %s: %s; %s", self._final.parent, error.strerror, what)


def written(mission: Mission) -> dict[str, Any]:
    """Return the mission as `mission.json` holds it."""
    kept = {
        "open_ended": mission.open_ended,
        "outside": mission.outside,
        "stamp_s": mission.stamp_s,
        "begun_s": mission.begun_s,
        "tasks": _TASKS.dump_python(mission.tasks, mode="json"),
    }
    return {**recorded(mission).model_dump(), "resume": kept}


def recorded(mission: Mission) -> RecordedMission:
    """Return the mission as it is recorded and published."""
    return RecordedMission(
        id=mission.id,
        text=mission.text,
        state=mission.state.value,
        active_task=mission.active_task,
        message=mission.message,
        question=mission.question,
        answers=mission.answers,
        tasks=tuple(_recorded(f"{mission.id}/{index}", task) for index, task in enumerate(mission.tasks)),
    )


def _recorded(task_id: str, task: Task) -> RecordedTask:
    return RecordedTask(
        id=task_id,
        text=task.planned.text,
        instruction=task.planned.instruction,
        skill=task.planned.skill.name,
        skill_task=task.planned.skill_task,
        match_score=task.planned.score,
        state=task.state.value,
        attempts=task.attempts,
        depth=task.depth,
        progress=task.progress,
        success=task.success,
        outcome=task.outcome,
        started_s=task.started_s,
        ended_s=task.ended_s,
    )
