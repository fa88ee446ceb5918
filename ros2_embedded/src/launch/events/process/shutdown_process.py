"""The request to stop a process."""

from __future__ import annotations

from .process_targeted_event import ProcessTargetedEvent


class ShutdownProcess(ProcessTargetedEvent):
    """Stop the matching processes: SIGINT, then SIGTERM, then SIGKILL."""

    name = "launch.events.process.ShutdownProcess"
