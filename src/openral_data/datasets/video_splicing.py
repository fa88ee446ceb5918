"""Operations on videos of episodes without re-encoding: join, cut, count frames, read key frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import DatasetError
from openral_core.files.atomic import replaced_file
from openral_data.video_format import rate


def readable_frames(path: Path) -> int:
    """Return the number of frames that can be decoded from the beginning of a video, which may be truncated."""
    count = 0
    try:
        with av.open(str(path)) as container:
            for _ in container.decode(video=0):
                count += 1
    except (av.FFmpegError, OSError, IndexError):
        return count
    return count


def join_videos(target: Path, parts: Sequence[tuple[Path, int]], fps: float) -> None:
    """Copy the first frames of videos, one after the other, into one seekable file.

    Args:
        target: the new file, which is written atomically.
        parts: path and number of frames of each; all are of the same camera and encoder.
        fps: [Hz] rate of frames.

    Raises:
        DatasetError: a part cannot be read, or has fewer frames.
        OSError: the file cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    tick = 1 / rate(fps)
    options = {"movflags": "faststart"}
    try:
        with (
            replaced_file(target) as partial,
            av.open(str(partial), "w", format="mp4", options=options) as container,
        ):
            stream: Any = None
            done = 0
            for path, frames in parts:
                with av.open(str(path)) as source:
                    if stream is None:
                        stream = container.add_stream_from_template(source.streams.video[0])
                    copied = _copy(source, frames, done, tick, stream, container)
                if copied < frames:
                    raise DatasetError(f"{path}: has {copied} frames, wanted {frames}; it is damaged")
                done += frames
    except (av.FFmpegError, IndexError) as error:
        if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
            raise
        raise DatasetError(f"{target}: its parts cannot be joined ({error})") from error


def _copy(source: Any, frames: int, done: int, tick: Fraction, stream: Any, container: Any) -> int:
    """Copy packets, which lie in the order of their frames; return how many there were, `frames` at most."""
    copied = 0
    for packet in source.demux(video=0):
        if packet.size == 0 or packet.pts is None:
            continue
        if copied == frames:
            break
        packet.time_base = tick
        packet.pts = packet.dts = done + copied
        packet.duration = 1
        packet.stream = stream
        container.mux(packet)
        copied += 1
    return copied


def key_frames(path: Path) -> Iterator[NDArray[np.uint8]]:
    """Yield the key frames (H, W, 3) uint8 RGB of a video. Raises DatasetError: it cannot be read."""
    try:
        with av.open(str(path)) as container:
            container.streams.video[0].codec_context.skip_frame = "NONKEY"
            for frame in container.decode(video=0):
                yield frame.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
    except (av.FFmpegError, IndexError) as error:
        raise DatasetError(f"{path}: cannot be decoded ({error})") from error
