"""Tests of whole systems: a file describes what to launch, and what to check while it runs and afterwards.

A test file has a function `generate_test_description`, which returns a launch description with a
`launch_testing.actions.ReadyToTest`, and test cases of `unittest`. Those marked with `post_shutdown_test` run
once everything has ended, the others while it runs. `launch_test FILE` runs such a file, and so does pytest
where the function is marked with `pytest.mark.launch_test`. The names are those of the ROS 2 package.
"""

from . import actions, asserts, event_handlers, markers, tools, util
from .decorator import post_shutdown_test
from .io_handler import ActiveIoHandler, IoHandler
from .parametrize import parametrize
from .proc_info_handler import ActiveProcInfoHandler, ProcInfoHandler
from .ready_to_test_action_timeout import ready_to_test_action_timeout

__all__ = [
    "ActiveIoHandler",
    "ActiveProcInfoHandler",
    "IoHandler",
    "ProcInfoHandler",
    "actions",
    "asserts",
    "event_handlers",
    "markers",
    "parametrize",
    "post_shutdown_test",
    "ready_to_test_action_timeout",
    "tools",
    "util",
]
