"""Detects that the disk of a run's folder is full, which the nodes then cannot write to its log."""

from __future__ import annotations

import shutil
from pathlib import Path

from openral_core.files.output_folder import PROBE_BYTES


class DiskWatch:
    """Checks the free space of a run's disk, since lines of the nodes and the mission are lost on a full one."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the run."""
        self._folder = folder
        self.was_full = False
        """Whether it was full at some check."""

    def look(self) -> str:
        """Return a message at the first check that finds the disk full, else an empty text.

        A folder that somebody has removed meanwhile is no reason to end a deployment.
        """
        if self.was_full or not self._folder.is_dir() or shutil.disk_usage(self._folder).free >= PROBE_BYTES:
            return ""
        self.was_full = True
        return (
            f"{self._folder}: No space left on device; the deployment goes on, and what happens from now on is missing "
            "here and in the files of the run until some space is freed"
        )
