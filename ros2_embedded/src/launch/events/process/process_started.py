"""The event of a started process."""

from __future__ import annotations

from .running_process_event import RunningProcessEvent


class ProcessStarted(RunningProcessEvent):
    """A process runs."""

    name = "launch.events.process.ProcessStarted"
