"""What pages show of a skill, the control loop, a diagnostic, a reading and a log line: plain values, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class SkillView:
    """A skill as its node announces it."""

    name: str
    version: str
    kind: str
    state: str
    """Lifecycle state of its node; empty: of a finished run, where it has none."""
    license: str
    commercial_use: bool
    running: bool
    """Its node holds a goal."""
    node: str


@dataclass(frozen=True)
class ControlView:
    """The bridge's newest status."""

    received_s: float
    """[s] monotonic."""
    skill: str
    instruction: str
    mode: str
    goal: str
    holding: bool
    estopped: bool
    executed: int
    held: int
    rejected: int
    expired: int
    effective_hz: float
    control_hz: float
    real_time_factor: float
    last_rejection: str
    operator: str = ""
    """Who has taken the arm over from the policies; empty: nobody."""
    correcting: bool = False
    """The operator moves it just now."""
    waits: bool = False
    """A goal waits until the arm is given back."""


@dataclass(frozen=True)
class DiagnosticView:
    """The newest status of one name on `/diagnostics`."""

    received_s: float
    """[s] monotonic."""
    name: str
    level: int
    """0 OK, 1 WARN, 2 ERROR, 3 STALE (diagnostic_msgs/DiagnosticStatus)."""
    message: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class ReadingView:
    """One reading of the reward monitor."""

    stamp_s: float
    """[s] node clock."""
    goal: str
    task: str
    camera: str
    progress: float
    success: float
    threshold: float
    """0..1; 0 where the monitor did not say."""
    abstained: bool
    remark: str


@dataclass(frozen=True)
class RecordingView:
    """What the recorder does."""

    received_s: float
    """[s] monotonic."""
    strategy: str
    recording: bool
    instruction: str
    """Words of the episode that is being written."""
    episode_s: float
    frames: int
    """Of that episode so far."""
    episodes: int
    """In the dataset."""
    dropped_images: int
    repeated_images: int
    missing_steps: int
    """Since the recorder's start."""
    free_gb: float
    stopped_by: str
    """Why nothing is recorded although it should be; empty: nothing is wrong."""
    folder: str


@dataclass(frozen=True)
class LogLine:
    """One line of `/rosout`."""

    number: int
    """Counts all lines that came, from 1."""
    level: int
    """10 DEBUG, 20 INFO, 30 WARN, 40 ERROR, 50 FATAL (rcl_interfaces/Log)."""
    clock: str
    """Time of day at which it was said."""
    node: str
    text: str


@dataclass(frozen=True)
class StopAnswer:
    """What came of the emergency stop of one deployment."""

    namespace: str
    fault: str
    """Why it is not known to be stopped; empty: its bridge says that it is."""
    latency_s: float
    """[s] wall time from the call to the answer; NaN without one."""
