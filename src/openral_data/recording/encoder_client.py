"""The recorder's side of the process that encodes videos."""

from __future__ import annotations

import contextlib
import fcntl
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OutputError
from openral_core.process.wait_or_kill import wait_or_kill
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.video_process import COMMAND

PIPE_BYTES = 1 << 20
"""Of the pipe: a picture of 640x480 at once, where the system has 64 KiB by default."""
END_S = 10.0
"""[s] that the process has to end by itself."""


class VideoEncoder:
    """Writes one video for each camera of a segment. Used from one thread."""

    def __init__(self, columns: RecordedColumns) -> None:
        """Start the process, which lasts until `close`."""
        self._columns = columns
        self._process: subprocess.Popen[bytes] | None = _start()

    def begin(self, folder: Path) -> None:
        """Begin the videos of a segment; a process that ended is started again. Raises OutputError: it ends at once."""
        if self._process is None or self._process.poll() is not None:
            self._process = _start()
        columns = self._columns
        said = {
            "folder": str(folder),
            "fps": columns.fps,
            "cameras": [{"key": c.key, "height": c.height, "width": c.width} for c in columns.cameras],
        }
        self._send(b"O", json.dumps(said).encode())

    def add(self, images: Mapping[str, NDArray[np.uint8] | None]) -> None:
        """Add a picture (H, W, 3) RGB of each camera, or repeat its last one. Raises OutputError: it ended."""
        for number, camera in enumerate(self._columns.cameras):
            image = images[camera.key]
            pixels = b"" if image is None else np.ascontiguousarray(image).data
            self._send(b"I", bytes([number]), pixels)

    def finish(self) -> dict[str, int]:
        """End the videos and return the frames of each. Raises OutputError: the process ended before."""
        process = self._send(b"C")
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise OutputError(self._ended())
        counts: dict[str, int] = json.loads(line)
        return counts

    def close(self) -> None:
        """End the process; videos that were begun and not finished can be read up to their last fragment."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        wait_or_kill(process, END_S)
        if process.stdout is not None:
            process.stdout.close()

    def _send(self, what: bytes, *parts: bytes | memoryview) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None:
            raise OutputError(self._ended())
        assert process.stdin is not None
        size = sum(part.nbytes if isinstance(part, memoryview) else len(part) for part in parts)
        try:
            process.stdin.write(COMMAND.pack(what, size))
            for part in parts:
                process.stdin.write(part)
            process.stdin.flush()
        except (OSError, ValueError) as error:
            raise OutputError(self._ended()) from error
        return process

    def _ended(self) -> str:
        code = self._process.poll() if self._process else None
        return f"the video encoder ended ({code}): the disk is full, or the process was killed; see its lines above"


def _start() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "openral_data.recording.video_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the recorder, which then ends the segment
    )
    assert process.stdin is not None
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # more than this user may have: it works with less
            fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return process
