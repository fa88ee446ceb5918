"""What can happen in a launch."""

from . import process
from .execution_complete import ExecutionComplete
from .hurry_shutdown import HurryShutdown
from .include_launch_description import IncludeLaunchDescription
from .matchers import matches_action, matches_event
from .shutdown import Shutdown
from .timer_event import TimerEvent

__all__ = [
    "ExecutionComplete",
    "HurryShutdown",
    "IncludeLaunchDescription",
    "Shutdown",
    "TimerEvent",
    "matches_action",
    "matches_event",
    "process",
]
