"""Child processes that end with the process that started them, also where that is killed."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
"""prctl(2)"""


def end_with_parent() -> Callable[[], None] | None:
    """Return a `preexec_fn` of `subprocess.Popen`: should its parent be killed, the child gets SIGTERM.

    It counts for the thread that starts the child, which must live as long as the child is wanted. None where the
    system has no such thing, which is everywhere but on Linux. The library is loaded here, since little may be done
    between fork and exec.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def arrange() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    return arrange
