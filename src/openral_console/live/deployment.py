"""The state of one deployment, from its topics.

The node's thread sets attributes, which pages read in another thread. Every value is replaced as a whole and never
modified, so that a reader gets either the old or the new one.
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

MAX_DIAGNOSTICS = 64
"""Most names of diagnostics that are kept: those that were heard last."""
MAX_STEPS, MAX_READINGS = 256, 600
"""Most steps of the mission log, and most readings, that are kept; at 3 Hz the latter are more than three minutes."""
STALE_S = 2.0
"""[s] age from which on a status of 5 Hz or 1 Hz counts as missing."""


class LiveDeployment:
    """The newest content of the deployment's topics."""

    def __init__(self) -> None:
        self.mission: RecordedMission | None = None
        self.steps: tuple[RecordedStep, ...] = ()
        self.skills: Mapping[str, SkillView] = {}
        """By name."""
        self.control: ControlView | None = None
        self.estopped: bool | None = None
        """Whether the bridge has latched the emergency stop; None: it is unknown."""
        self.diagnostics: Mapping[str, DiagnosticView] = {}
        """By name, in the order in which they were heard last."""
        self.readings: tuple[ReadingView, ...] = ()
        self.cameras: Mapping[str, CameraFeed] = {}
        """By name, in the order in which they were found."""
        self.robot: DrawnRobot | None = None
        self.frames = Frames()
        self.recording: RecordingView | None = None
        """Status of the recorder; None: none has been received."""
        self.log = LogLines()
        self.others: tuple[str, ...] = ()
        """Namespaces of the other deployments in this one's domain."""
        self.watchers = 0
        """Number of open pages; images are received only while there are any."""

    @property
    def control_is_stale(self) -> bool:
        """Whether the bridge's newest status is older than `STALE_S`, or there is none."""
        return self.control is None or time.monotonic() - self.control.received_s > STALE_S

    def add_diagnostics(self, news: Mapping[str, DiagnosticView]) -> None:
        """Take the diagnostics of a message."""
        before = {name: status for name, status in self.diagnostics.items() if name not in news}
        self.diagnostics = dict([*before.items(), *news.items()][-MAX_DIAGNOSTICS:])

    def add_step(self, step: RecordedStep) -> None:
        """Take a step of the mission log."""
        self.steps = (*self.steps[1 - MAX_STEPS :], step)

    def add_reading(self, reading: ReadingView) -> None:
        """Add a reading; if its stamp is earlier than the last one's, earlier readings are dropped."""
        before = self.readings
        if before and reading.stamp_s < before[-1].stamp_s:
            before = ()
        self.readings = (*before[1 - MAX_READINGS :], reading)


class ManualControl(Protocol):
    """Teleoperation of the arm; see `openral_console.ros.teleop_controller.TeleopController`."""

    holder: str
    """Id of the page that controls the arm; empty: none does."""

    def why_not(self) -> str:
        """Return why the arm cannot be taken over now; empty: it can."""

    def engage(self, holder: str, operator: str) -> str:
        """Take the arm over from the policies; return why that failed, or an empty text. Call it in a thread."""

    def give_back(self, holder: str, operator: str) -> str:
        """Give the arm back to the policies; return why that failed, or an empty text. Call it in a thread."""

    def disengage(self, holder: str) -> None:
        """End the holder's control: the arm holds at once, and an interrupted goal stays paused."""

    def drive(self, holder: str, steer: Steer) -> str:
        """Send one short chunk of motion; return why it was not sent, or an empty text."""

    def toggle_gripper(self, holder: str) -> None:
        """Close open fingers and open closed ones."""


class Controls(Protocol):
    """Commands of an operator to the deployment. Each may take some seconds, and is to be called in a thread."""

    def say(self, text: str) -> str:
        """Send an order to the reasoner; return why that failed, or an empty text."""

    def stop(self) -> str:
        """Latch the emergency stop; return why that failed, or an empty text."""

    def stop_all(self) -> str:
        """Latch the emergency stop of all deployments in the domain; return which did not confirm, or an empty text."""

    def release(self) -> str:
        """Reset the emergency stop; return why that failed, or an empty text."""

    def record(self, order: str, outcome: str = "") -> str:
        """Send a command to the recorder; return why it failed, or an empty text.

        Args:
            order: start, stop, discard, highlight or mark.
            outcome: for mark: success, failure or unknown.
        """
