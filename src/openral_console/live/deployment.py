"""All that is known of one deployment, as its topics say it.

The node's thread sets attributes; pages read them in another. Every value is replaced as a whole and never changed, so
that a reader sees the old one or the new one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from openral_console.live.camera_feed import CameraFeed
from openral_console.live.frame_tree import Frames
from openral_console.live.log_lines import LogLines
from openral_console.live.urdf_visuals import DrawnRobot
from openral_console.live.views import (
    ControlView,
    DiagnosticView,
    ReadingView,
    RecordingView,
    SkillView,
)
from openral_console.teleop.steering import Steer
from openral_core.mission_record import RecordedMission, RecordedStep

MAX_STEPS, MAX_READINGS = 256, 600
"""Steps of the mission log and readings that are kept; at 3 Hz the latter are more than three minutes."""
STALE_S = 2.0
"""[s] after which a status that comes at 5 Hz, or at 1 Hz, counts as missing."""


class LiveDeployment:
    """What the topics say."""

    def __init__(self) -> None:
        self.mission: RecordedMission | None = None
        self.steps: tuple[RecordedStep, ...] = ()
        self.skills: Mapping[str, SkillView] = {}
        """By name."""
        self.control: ControlView | None = None
        self.estopped: bool | None = None
        """As the bridge latches it; None: nobody said."""
        self.diagnostics: Mapping[str, DiagnosticView] = {}
        """By name."""
        self.readings: tuple[ReadingView, ...] = ()
        self.cameras: Mapping[str, CameraFeed] = {}
        """By name, in the order in which they were found."""
        self.robot: DrawnRobot | None = None
        self.frames = Frames()
        self.recording: RecordingView | None = None
        """None: no recorder was heard."""
        self.log = LogLines()
        self.others: tuple[str, ...] = ()
        """Namespaces of the other deployments in this one's domain."""
        self.watchers = 0
        """Open pages; pictures are taken in only while there are some."""

    @property
    def control_is_stale(self) -> bool:
        """Whether the bridge is silent."""
        return self.control is None or time.monotonic() - self.control.received_s > STALE_S

    def add_step(self, step: RecordedStep) -> None:
        """Take a step of the mission log."""
        self.steps = (*self.steps[1 - MAX_STEPS :], step)

    def add_reading(self, reading: ReadingView) -> None:
        """Take a reading; a clock that went back begins a new curve."""
        before = self.readings
        if before and reading.stamp_s < before[-1].stamp_s:
            before = ()
        self.readings = (*before[1 - MAX_READINGS :], reading)


class ManualControl(Protocol):
    """The operator's hand on the arm; `openral_console.ros.teleop_controller.TeleopController`."""

    holder: str
    """Who has the arm; empty: nobody."""

    def why_not(self) -> str:
        """Return why nobody may take the arm now, or nothing."""

    def engage(self, holder: str, operator: str) -> str:
        """Take the arm from the policies for somebody; return why not, or nothing. Call it in a thread."""

    def give_back(self, holder: str, operator: str) -> str:
        """Let the policies go on; return why not, or nothing. Call it in a thread."""

    def disengage(self, holder: str) -> None:
        """Take the arm from its holder: it holds at once, and a goal that was broken off goes on waiting."""

    def drive(self, holder: str, steer: Steer) -> str:
        """Move the arm for a moment; return why it was not moved, or nothing."""

    def toggle_gripper(self, holder: str) -> None:
        """Close open fingers and open closed ones."""


class Controls(Protocol):
    """What an operator may ask of the deployment. Each may take some seconds; call it in a thread."""

    def say(self, text: str) -> str:
        """Send words to the reasoner; return why that was not possible, or nothing."""

    def stop(self) -> str:
        """Latch the emergency stop; return why that was not possible, or nothing."""

    def stop_all(self) -> str:
        """Latch the emergency stop of this deployment and of all others in its domain; return who is not known to be
        stopped, and why, or nothing."""

    def release(self) -> str:
        """Reset the emergency stop; return why that was not possible, or nothing."""

    def record(self, order: str, outcome: str = "") -> str:
        """Tell the recorder something; return why it was not done, or nothing.

        Args:
            order: start, stop, discard, highlight or mark.
            outcome: for mark: success, failure or unknown.
        """
