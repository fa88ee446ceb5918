"""A lock file that one process at a time can hold."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from openral_sidecar.errors import SidecarTimeout

LOOK_S = 0.1


@contextlib.contextmanager
def exclusive(path: Path, timeout_s: float, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock `path` while the block runs; the kernel releases it if the process ends, even if it is killed.

    Args:
        path: file for this lock only; it is not removed.
        timeout_s: [s] to wait for another holder at most.
        on_wait: called every LOOK_S while waiting; may raise to give up.

    Raises:
        SidecarTimeout: another process held the lock all the time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + timeout_s
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _taken(handle):
            if time.monotonic() > until:
                raise SidecarTimeout(
                    f"{path}: another process has held this lock for {timeout_s:g} s; end it"
                )
            on_wait()
            time.sleep(LOOK_S)
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
