"""Keeps a picture of the end of each attempt in the run's folder, for the report."""

from __future__ import annotations

import logging
from pathlib import Path

from openral_core.files.finished_run_folder import ENDS, picture_path
from openral_core.files.output_folder import make_private
from openral_reasoner.mission.agent_requests import Look, Reply
from openral_reasoner.mission.mission import LogEntry
from openral_reasoner.ros.perception_client import CameraAndMonitor

MAX_PICTURES = 500
"""Pictures that one process keeps; later attempts have none."""
_log = logging.getLogger(__name__)


class AttemptPictures:
    """Looks through the scene's first camera when an attempt has ended. Not thread-safe."""

    def __init__(self, run_dir: Path, perception: CameraAndMonitor) -> None:
        """Keep pictures in a folder of `run_dir`."""
        self._run_dir, self._perception = run_dir, perception
        self._open: Path | None = None
        self._left = MAX_PICTURES

    def heard(self, entry: LogEntry) -> None:
        """Take a step of the mission log."""
        if entry.kind == "attempt":
            self._open = picture_path(self._run_dir, entry.mission, entry.task, entry.attempt)
        elif entry.kind in ENDS and self._open is not None:
            path, self._open = self._open, None
            if self._left > 0 and self._perception.cameras:
                self._left -= 1
                self._perception.sense(
                    Look(self._perception.cameras[0]), lambda reply: self._keep(path, reply)
                )

    def _keep(self, path: Path, reply: Reply) -> None:
        if not reply.image_png:
            return
        try:
            make_private(path.parent)
            path.write_bytes(reply.image_png)
        except OSError as error:
            _log.warning("%s: %s; the report will lack this picture", path, error.strerror or error)
