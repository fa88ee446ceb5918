"""Checked plain values for pages: of skills, the control loop, diagnostics, readings, recorder and log lines."""

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
    """Whether its node has a goal."""
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
    """Name of the operator who has taken over the arm; empty: nobody has."""
    correcting: bool = False
    """Whether the operator is moving the arm now."""
    waits: bool = False
    """Whether a goal is paused until the arm is given back."""


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
    """Status of the recorder."""

    received_s: float
    """[s] monotonic."""
    strategy: str
    recording: bool
    instruction: str
    """Instruction of the episode that is being written."""
    episode_s: float
    frames: int
    """Number of frames of that episode so far."""
    episodes: int
    """Number of episodes in the dataset."""
    dropped_images: int
    repeated_images: int
    missing_steps: int
    """Number of control steps that are missing since the recorder's start."""
    free_gb: float
    stopped_by: str
    """Why the recorder has stopped; empty: it has not."""
    folder: str


@dataclass(frozen=True)
class LogLine:
    """One line of `/rosout`."""

    number: int
    """Number of the line among all received, from 1."""
    level: int
    """10 DEBUG, 20 INFO, 30 WARN, 40 ERROR, 50 FATAL (rcl_interfaces/Log)."""
    clock: str
    """Time of day of the line."""
    node: str
    text: str


@dataclass(frozen=True)
class StopAnswer:
    """Answer of one deployment to its emergency stop."""

    namespace: str
    fault: str
    """Why the stop is not confirmed; empty: the bridge confirmed it."""
    latency_s: float
    """[s] wall time from the call to the answer; NaN if there was none."""
