"""One writer at a time for a file that threads and processes share."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Wait until nobody else writes a file, and keep others from it until the block ends.

    The kernel releases the lock with the process that holds it, so a killed one leaves none behind. The lock is a file
    of its own beside `path`, with the suffix `.lock`, since `path` is replaced when it is written.

    Args:
        path: the file; its folder is made if it is missing.

    Raises:
        OSError: the folder or the lock cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
