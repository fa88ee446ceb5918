"""A disk that gets full while a deployment runs, which then cannot write that it is."""

from __future__ import annotations

import shutil
from pathlib import Path

from openral_core.files.output_folder import PROBE_BYTES


class DiskWatch:
    """Looks at the disk of a run's folder: on a full one the lines of nodes and of the mission are lost."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the run."""
        self._folder = folder
        self.was_full = False
        """Whether it was full at a look."""

    def look(self) -> str:
        """Return what is to be said, the first time that the disk is full; else nothing."""
        if self.was_full or shutil.disk_usage(self._folder).free >= PROBE_BYTES:
            return ""
        self.was_full = True
        return (
            f"{self._folder}: No space left on device; the deployment goes on, and what happens from now on is missing "
            "here and in the files of the run until some space is freed"
        )
