"""A launch that ends with one of its processes."""

from __future__ import annotations

from ..actions.execute_local import ExecuteLocal
from ..actions.register_event_handler import RegisterEventHandler
from ..actions.shutdown_action import Shutdown
from ..event_handlers.on_process_exit import OnProcessExit


def shutdown_on_process_exit(process: ExecuteLocal) -> RegisterEventHandler:
    """Return an action that has the launch shut down once `process` has ended."""
    return RegisterEventHandler(
        OnProcessExit(
            target_action=process, on_exit=[Shutdown(reason="a process that the launch needs ended")]
        )
    )
