"""Assertions about exit codes."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Any

from launch.events.process import ProcessExited

from ..util import resolveProcesses

EXIT_OK = 0
EXIT_FORCED = 1
"""Of a process that was ended by force where there are no signals."""
EXIT_SIGINT = 128 + signal.SIGINT
EXIT_SIGQUIT = 128 + signal.SIGQUIT
EXIT_SIGKILL = 128 + signal.SIGKILL
EXIT_SIGSEGV = 128 + signal.SIGSEGV
EXIT_SIGTERM = 128 + signal.SIGTERM
DEFAULT_ACCEPTABLE_EXIT_CODES = [EXIT_OK]


def assertExitCodes(
    proc_info: Any,
    allowable_exit_codes: Iterable[int] = (EXIT_OK,),
    process: Any = None,
    cmd_args: Any = None,
    *,
    strict_proc_matching: bool = True,
) -> None:
    """Assert how processes ended.

    Args:
        proc_info: the `ProcInfoHandler` that a test is given.
        allowable_exit_codes: what is right; a process that a signal ended has 128 and the signal's number.
        process, cmd_args, strict_proc_matching: which process; see `launch_testing.util.resolveProcesses`.

    Raises:
        AssertionError: one ended otherwise, or did not end.
        NoMatchingProcessException: no process fits, or several do.
    """
    allowed = set(allowable_exit_codes)
    for action in resolveProcesses(
        proc_info, process=process, cmd_args=cmd_args, strict_proc_matching=strict_proc_matching
    ):
        event = proc_info[action]
        if not isinstance(event, ProcessExited):
            raise AssertionError(f"Proc {event.process_name} has not ended")
        code = event.returncode
        if not allowed & {code, 128 - code if code < 0 else code}:
            raise AssertionError(f"Proc {event.process_name} exited with code {code}")
