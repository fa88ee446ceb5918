"""Child processes that end with the process that started them, also where that is killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator

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


@contextlib.contextmanager
def ended_with_parent() -> Iterator[None]:
    """End this process by SIGTERM if its parent ends within the block, for a block that hears of nothing else.

    Outside of it the process may notice in its own way, and leave in order. Nothing is done but on Linux.
    """
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: 0
    parent = os.getppid()
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
    try:
        yield
    finally:
        prctl(_PR_SET_PDEATHSIG, 0)
