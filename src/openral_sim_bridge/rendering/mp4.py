"""Encoding of frames as an MP4 file (H.264, yuv420p) that every browser plays."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from openral_core.files.atomic import replaced_file


def write_mp4(path: Path, frames: Iterable[NDArray[np.uint8]], *, fps: int, crf: int = 20) -> Path:
    """Encode frames as H.264, write the file atomically and return its path.

    Args:
        path: of the video.
        frames: at least one (H, W, 3) uint8 RGB, all of one size, with H and W even.
        fps: [1/s] frame rate.
        crf: constant rate factor, from 0 (best) to 51; 20 is hard to tell from the original.
    """
    with replaced_file(path) as partial, av.open(str(partial), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps, options={"crf": str(crf), "preset": "veryfast"})
        stream.pix_fmt, stream.time_base = "yuv420p", Fraction(1, fps)
        for index, frame in enumerate(frames):
            if index == 0:
                stream.height, stream.width = frame.shape[:2]
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    return path
