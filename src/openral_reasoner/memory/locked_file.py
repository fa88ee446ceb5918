"""One writer at a time for a file that threads and processes share, and who may read what is written."""

from __future__ import annotations

import fcntl
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def is_private(path: Path) -> bool:
    """Return whether a file is there that only its owner may read, which the one that replaces it has to be, too."""
    try:
        return not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    except OSError:
        return False


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
