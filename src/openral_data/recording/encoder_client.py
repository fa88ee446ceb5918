"""The client of the process that encodes videos."""

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
"""Size of the pipe, enough for an image of 640x480; the system's default is 64 KiB."""
END_S = 10.0
"""[s] time for the process to end by itself before it is killed."""


class VideoEncoder:
    """Writes one video for each camera of a segment. Not thread-safe."""

    def __init__(self, columns: RecordedColumns) -> None:
        """Start the process, which runs until `close`."""
        self._columns = columns
        self._process: subprocess.Popen[bytes] | None = _start()

    def begin(self, folder: Path) -> None:
        """Begin the videos of a segment; restart the process if it has ended. Raises OutputError: it ends again."""
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
        """Add an image (H, W, 3) uint8 RGB of each camera; None repeats its last one.

        Raises:
            OutputError: the process has ended.
        """
        for number, camera in enumerate(self._columns.cameras):
            image = images[camera.key]
            pixels = b"" if image is None else np.ascontiguousarray(image).data
            self._send(b"I", bytes([number]), pixels)

    def finish(self) -> dict[str, int]:
        """Complete the videos; return the number of frames by feature key. Raises OutputError: the process ended."""
        process = self._send(b"C")
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise OutputError(self._ended())
        counts: dict[str, int] = json.loads(line)
        return counts

    def close(self) -> None:
        """End the process; unfinished videos can be read up to their last complete fragment."""
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
        start_new_session=True,  # Ctrl-C must reach only the recorder, which then ends the segment
    )
    assert process.stdin is not None
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # beyond the user's limit; the default size works as well
            fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return process
