"""The mission in a run folder: its latest state in `mission.json`, and its steps in the lines of `mission.jsonl`.

The reasoner writes these files, and reports read them. Field names are those of `openral/msg/Mission`, `MissionTask`
and `MissionStep`.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from openral_core.errors import ManifestError, NotFoundError

MISSION_FILE, STEPS_FILE = "mission.json", "mission.jsonl"
MOST_S = 1e12
"""[s] bound of the stamps of steps; no clock has run as long."""
KIND_WIDTH = 12
"""Width of a column for the kinds of steps, in characters: that of the longest, "intervention"."""


class _Recorded(BaseModel):
    """Base of the schemas. Unknown keys, which other writers may add to a file, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RecordedTask(_Recorded):
    """A task of a mission, with its state and outcome."""

    id: str
    text: str
    """The operator's words for the task."""
    instruction: str = ""
    """Instruction of the policy."""
    skill: str
    """Manifest name of the skill; empty before one is chosen."""
    skill_task: str
    """The skill's own task id; empty: none."""
    match_score: float = 0.0
    """0..1, similarity of the operator's words to the skill's task."""
    state: str
    """pending, active, verifying, done, abandoned or skipped."""
    attempts: int
    depth: int = 0
    """Number of decompositions that led to it."""
    progress: float
    """0..1, latest reading; -1 while unknown."""
    success: float = -1.0
    """0..1, latest reading; -1 while unknown."""
    outcome: str
    """Why it ended."""
    started_s: float
    """[s] node clock, 0 before it started."""
    ended_s: float
    """[s] node clock, 0 before it ended."""


class RecordedMission(_Recorded):
    """The state of a mission."""

    id: str
    text: str
    """The operator's sentence."""
    state: str
    """idle, active, done, failed or stopped."""
    active_task: int
    """Index of the active task; -1: none."""
    message: str
    """The reasoner's latest message."""
    question: str = ""
    """The pending question to the operator; empty: none."""
    answers: tuple[str, ...] = ()
    """One accepted answer of each kind; empty: any text is an answer."""
    tasks: tuple[RecordedTask, ...]


class RecordedStep(_Recorded):
    """A step of a mission, with its reason."""

    stamp_s: float
    """[s] node clock."""
    kind: str
    reason: str
    mission: str = ""
    task: int = -1
    """Index of the task; -1: the step is about the whole mission."""
    text: str = ""
    attempt: int = 0
    progress: float = -1.0
    """0..1; -1 while unknown."""
    success: float = -1.0
    """0..1; -1 while unknown."""
    outcome: str = ""
    """State of the task, or of the mission where `task` is -1."""
    wall_time: float = 0.0
    """[s] since the epoch."""


def words_after(state: str, message: str) -> str:
    """Return the final message of a mission without a leading "<state>: ", to be printed after the state."""
    return message.removeprefix(f"{state}: ")


def load_mission(run_dir: Path) -> RecordedMission:
    """Return the mission of a run folder.

    Raises:
        NotFoundError: the folder or its mission file does not exist.
        ManifestError: the file is not a valid mission.
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


class StepsFile:
    """The steps of a run folder while they are written: each call of `new` reads only what was added since the last."""

    def __init__(self, run_dir: Path) -> None:
        """Begin before the first step of a folder, whose file need not exist yet."""
        self._path = run_dir / STEPS_FILE
        self._read_bytes = 0
        self._lines = 0

    def new(self) -> list[RecordedStep]:
        """Return the steps that were added; a last line that is not complete yet, as of a killed process, is left.

        Raises:
            ManifestError: a line is not a valid step; the text names it.
        """
        if not self._path.is_file():
            return []
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            *lines, unfinished = file.read().split(b"\n")  # words may hold every other line break
            self._read_bytes = file.tell() - len(unfinished)
        steps = []
        for line in lines:
            self._lines += 1
            try:
                step = RecordedStep.model_validate_json(line)
            except ValidationError as error:
                raise ManifestError(f"{self._path}:{self._lines}: {_first(error)}") from error
            if not abs(step.stamp_s) <= MOST_S:
                raise ManifestError(
                    f"{self._path}:{self._lines}: stamp_s: {step.stamp_s} is no time in seconds"
                )
            steps.append(step)
        return steps


def load_steps(run_dir: Path) -> list[RecordedStep]:
    """Return all steps of a run folder; see `StepsFile.new`."""
    return StepsFile(run_dir).new()


def _first(error: ValidationError) -> str:
    """Return the place and the text of the first fault, in one line."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"]) or "the file"
    return f"{place}: {fault['msg']}"
