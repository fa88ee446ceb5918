"""A lock on the folder of a run, so that no two processes write its rows: each would lose or repeat the other's."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from openral_core.errors import ManifestError


class RunLock:
    """Holds the lock of a folder until `release`; the kernel releases it when the process ends in any way."""

    def __init__(self, folder: Path) -> None:
        """Acquire the lock of a folder that exists.

        Raises:
            ManifestError: another process holds it.
        """
        self._folder = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.release()
            raise ManifestError(
                f"{folder}: another process runs episodes into this folder; wait for it or end it, or name another "
                "--out"
            ) from error
        except OSError:
            return  # a file system without locks

    def release(self) -> None:
        """Release the lock; called once."""
        os.close(self._folder)
