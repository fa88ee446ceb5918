"""Tests of whole systems: a file describes what to launch, and what to check while it runs and afterwards.

A test file has a function `generate_test_description`, which returns a launch description with a
`launch_testing.actions.ReadyToTest`, and test cases of `unittest`. Those marked with `post_shutdown_test` run
once everything has ended, the others while it runs. `launch_test FILE` runs such a file, and so does pytest
where the function is marked with `pytest.mark.launch_test`. The names are those of the ROS 2 package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .decorator import post_shutdown_test
from .parametrize import parametrize
from .ready_to_test_action_timeout import ready_to_test_action_timeout

if TYPE_CHECKING:
    from . import actions, asserts, event_handlers, markers, tools, util
    from .io_handler import ActiveIoHandler, IoHandler
    from .proc_info_handler import ActiveProcInfoHandler, ProcInfoHandler

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

_MODULES = {
    "ActiveIoHandler": "io_handler",
    "ActiveProcInfoHandler": "proc_info_handler",
    "IoHandler": "io_handler",
    "ProcInfoHandler": "proc_info_handler",
}


def __getattr__(name: str) -> Any:
    """Import what is used: the plug-in lies in this package, and every start of pytest imports that."""
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
