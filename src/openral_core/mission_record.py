"""The mission in a run folder: `mission.json`, its newest state, and `mission.jsonl`, one step a line.

The reasoner writes them and whatever reports on a run reads them. Field names are those of `openral/msg/Mission`,
`MissionTask` and `MissionStep`.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from openral_core.errors import ManifestError, NotFoundError

MISSION_FILE, STEPS_FILE = "mission.json", "mission.jsonl"
KIND_WIDTH = 12
"""Characters of the longest kind of a step, "intervention", for columns."""


class _Recorded(BaseModel):
    """Base of the schemas: keys that others keep in the same file are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RecordedTask(_Recorded):
    """One task and what became of it."""

    id: str
    text: str
    """The operator's words for it."""
    instruction: str = ""
    """Words for the policy."""
    skill: str
    """Manifest name, empty before a skill is chosen."""
    skill_task: str
    """The skill's own task id, or empty."""
    match_score: float = 0.0
    """0..1, how well the words matched."""
    state: str
    """pending, active, verifying, done, abandoned or skipped."""
    attempts: int
    depth: int = 0
    """How many decompositions it comes from."""
    progress: float
    """0..1 last reading, -1 while unknown."""
    success: float = -1.0
    outcome: str
    """Why it ended, in words."""
    started_s: float
    """[s] node clock, 0 before it started."""
    ended_s: float
    """[s] node clock, 0 before it ended."""


class RecordedMission(_Recorded):
    """A mission as it stands."""

    id: str
    text: str
    """The operator's sentence."""
    state: str
    """idle, active, done, failed or stopped."""
    active_task: int
    """Index of the task in work, -1: none."""
    message: str
    """The reasoner's last words."""
    question: str = ""
    """What the operator is asked just now; empty: nothing."""
    answers: tuple[str, ...] = ()
    """Words that answer it, one of each kind; empty: any words do."""
    tasks: tuple[RecordedTask, ...]


class RecordedStep(_Recorded):
    """One step of a mission, with its reason."""

    stamp_s: float
    """[s] node clock."""
    kind: str
    reason: str
    mission: str = ""
    task: int = -1
    """Index of the task, -1: the mission as a whole."""
    text: str = ""
    attempt: int = 0
    progress: float = -1.0
    """0..1, -1 while unknown."""
    success: float = -1.0
    outcome: str = ""
    """State of the task, or of the mission where `task` is -1."""
    wall_time: float = 0.0
    """[s] since the epoch."""


def words_after(state: str, message: str) -> str:
    """Return what a mission says at its end without the state that it may begin with, to stand behind the state."""
    return message.removeprefix(f"{state}: ")


def load_mission(run_dir: Path) -> RecordedMission:
    """Return the mission of a run folder.

    Raises:
        NotFoundError: there is no such folder, or the reasoner wrote none.
        ManifestError: the file is no mission.
    """
    path = run_dir / MISSION_FILE
    if not run_dir.is_dir():
        raise NotFoundError(f"{run_dir}: there is no such folder; name the folder of a run")
    if not path.is_file():
        raise NotFoundError(f"{path} is missing: the reasoner did not come to a mission")
    try:
        return RecordedMission.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ManifestError(f"{path}: {_first(error)}") from error


def load_steps(run_dir: Path) -> list[RecordedStep]:
    """Return the steps of a run folder; a last line cut off by a kill is left out.

    Raises:
        ManifestError: a line is no step; the text names it.
    """
    path = run_dir / STEPS_FILE
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
    steps = []
    for number, line in enumerate(lines, start=1):
        if line.endswith("\n"):
            try:
                steps.append(RecordedStep.model_validate_json(line))
            except ValidationError as error:
                raise ManifestError(f"{path}:{number}: {_first(error)}") from error
    return steps


def _first(error: ValidationError) -> str:
    """Return the first fault in one line: where it is and what it is."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"]) or "the file"
    return f"{place}: {fault['msg']}"
