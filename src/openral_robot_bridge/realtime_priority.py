"""Real-time priority of the processes on whose timing the motion of a real arm depends.

The policy is SCHED_FIFO (sched(7)): a thread that is ready to run waits for no thread of ordinary priority.
"""

from __future__ import annotations

import os
from pathlib import Path

PRIORITY = 50
"""Real-time priority, of 1 to 99: that of ros2_control's controller manager, and below libfranka's."""
HOW_TO = "grant them in /etc/security/limits.d (rtprio 99), to a container by --cap-add SYS_NICE"
"""What a user can do about a refusal."""
_THREADS = Path("/proc/self/task")


def take_priority() -> str:
    """Give real-time priority to all present threads of this process, which pass it on to those that they start.

    Threads that have one keep theirs. Call it when all that takes long is done, such as imports.

    Returns:
        Why it could not be done; empty: it was.
    """
    try:
        threads = [int(thread.name) for thread in _THREADS.iterdir()]
    except OSError:
        return "this system has no real-time priorities"
    return next((refusal for thread in threads if (refusal := _take(thread))), "")


def priority_refusal() -> str:
    """Return why this process may not have real-time priority; empty: it may. Its priority stays as it is."""
    if not _THREADS.is_dir():
        return "this system has no real-time priorities"
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    refusal = _take(0)
    os.sched_setscheduler(0, policy, priority)
    return refusal


def present_priority() -> int:
    """Return the real-time priority of the calling thread; 0: it has none."""
    return os.sched_getparam(0).sched_priority if _THREADS.is_dir() else 0


def _take(thread: int) -> str:
    """Give real-time priority to a thread by its id, 0 for the calling one; return why it could not be done."""
    try:
        if os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK not in (os.SCHED_FIFO, os.SCHED_RR):
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except ProcessLookupError:
        pass  # the thread has ended
    except PermissionError:
        return "the user may have no real-time priorities"
    return ""
