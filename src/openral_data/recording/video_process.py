"""The process that encodes the videos of a segment: `python -m openral_data.recording.video_process`.

It reads commands from standard input, responds to `C` with one line of JSON on standard output (number of frames by
feature key), and ends with its input, and so with its parent. A command is one byte, a length (4 bytes, little endian)
and as many bytes of data:

    O  JSON: folder, fps, cameras [{key, height, width}]     begin a segment
    I  one byte, the camera's number, and H * W * 3 bytes RGB  its next frame; without pixels: repeat the last frame
    C  nothing                                              end the segment

Frames are H.264 in fragmented MP4, with one fragment for each group of pictures, so that a truncated file can be read
up to its last complete fragment.
"""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av
import numpy as np

from openral_core.errors import OutputError
from openral_core.files.output_folder import disk_fault
from openral_data.video_format import CODEC, PIXELS, rate

COMMAND = struct.Struct("<cI")
GROUP_S, GROUP = 0.5, 10
"""[s] and frames: largest length of a group of pictures, which bounds the loss by a kill and the cost of random access.
"""
OPTIONS = {"crf": "18", "preset": "ultrafast", "tune": "zerolatency"}
"""Options of libx264 for high quality, fast encoding, and no frames that depend on later ones."""
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof", "flush_packets": "1"}


def video_file(folder: Path, key: str) -> Path:
    """Return the video of a camera in a segment."""
    return folder / f"{key}.mp4"


@dataclass
class _Video:
    """One video that is being written."""

    container: Any
    stream: Any
    shape: tuple[int, int, int]
    tick: Fraction
    """[s] time from one frame to the next. The stream's own time base is replaced by the container's."""
    frames: int = 0
    last: Any = None

    @classmethod
    def begin(cls, path: Path, fps: float, height: int, width: int) -> _Video:
        container = av.open(str(path), "w", options=FRAGMENTED)
        stream = container.add_stream("libx264", rate=rate(fps), options=OPTIONS)
        stream.pix_fmt, stream.height, stream.width = PIXELS, height, width
        tick = stream.codec_context.time_base = 1 / rate(fps)
        stream.codec_context.gop_size = max(1, min(GROUP, int(fps * GROUP_S)))
        stream.codec_context.thread_count = 1
        return cls(container, stream, (height, width, 3), tick)

    def add(self, data: bytes) -> None:
        if data:
            self.last = np.frombuffer(data, np.uint8).reshape(self.shape)
        frame = av.VideoFrame.from_ndarray(self.last, format="rgb24")
        frame.pts, frame.time_base = self.frames, self.tick
        self.container.mux(self.stream.encode(frame))
        self.frames += 1

    def end(self) -> None:
        if self.frames:
            self.container.mux(self.stream.encode())
        self.container.close()


class _Segment:
    """The videos of the segment that is being written."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._videos: list[tuple[str, _Video]] = []

    def begin(self, data: bytes) -> None:
        said = json.loads(data)
        self.folder = folder = Path(said["folder"])
        self._videos = [
            (
                one["key"],
                _Video.begin(video_file(folder, one["key"]), said["fps"], one["height"], one["width"]),
            )
            for one in said["cameras"]
        ]

    def add(self, data: bytes) -> None:
        self._videos[data[0]][1].add(data[1:])

    def end(self) -> dict[str, int]:
        """Close the files; return the number of frames by feature key."""
        videos, self._videos = self._videos, []
        for _, video in videos:
            video.end()
        return {key: video.frames for key, video in videos}


def serve(commands: BinaryIO, answers: BinaryIO) -> None:
    """Execute commands until they end. Raises OutputError: the disk is full or cannot be written."""
    segment = _Segment()
    assert CODEC == "h264"
    try:
        while (command := _read(commands)) is not None:
            what, data = command
            if what == b"O":
                segment.begin(data)
            elif what == b"I":
                segment.add(data)
            elif what == b"C":
                answers.write(json.dumps(segment.end()).encode() + b"\n")
                answers.flush()
        segment.end()  # the parent has ended; the frames so far are kept
    except OSError as error:
        fault = disk_fault(error, segment.folder)
        if fault is None:
            raise
        raise OutputError(fault) from error


def _read(commands: BinaryIO) -> tuple[bytes, bytes] | None:
    """Return the next command and its data; None: they have ended."""
    head = commands.read(COMMAND.size)
    if len(head) < COMMAND.size:
        return None
    what, size = COMMAND.unpack(head)
    data = commands.read(size)
    return None if len(data) < size else (what, data)


if __name__ == "__main__":
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except OutputError as error:
        sys.exit(f"error: {error}")
