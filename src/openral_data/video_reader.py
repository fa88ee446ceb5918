"""The videos of a LeRobot v3 dataset: one mp4 holds several episodes, and `meta/episodes` says where each begins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import DatasetError
from openral_data.lerobot_meta import file_by_pattern

SLACK = 0.5
"""How far a frame may be from the moment it is wanted for, in frames."""
_ROWS = ("dataset_from_index", "dataset_to_index")
_OWN = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_FETCH = "fetch the dataset again, or encode the video again"


@dataclass(frozen=True)
class Clip:
    """One episode in a video."""

    path: Path
    start_s: float
    """[s] of the first frame, in the time of the video."""
    frames: int


@dataclass(frozen=True)
class VideoHeader:
    """What the header of a video says."""

    height: int
    width: int
    fps: float
    duration_s: float


def clips(
    root: Path, info: Mapping[str, Any], episodes: Mapping[str, Sequence[Any]], camera: str
) -> list[Clip]:
    """Return where each episode of one camera lies.

    Raises:
        DatasetError: the dataset does not say so.
    """
    names = [f"videos/{camera}/{part}" for part in ("chunk_index", "file_index", "from_timestamp")]
    missing = [name for name in names if name not in episodes]
    pattern = info.get("video_path")
    if missing or not isinstance(pattern, str):
        what = f"meta/episodes has no column {missing[0]}" if missing else "meta/info.json has no video_path"
        raise DatasetError(f"{root}: {what}, so the video of {camera} is not known; fetch the dataset again")
    for name in names:
        if None in episodes[name]:
            row = list(episodes[name]).index(None)
            raise DatasetError(
                f"{root / 'meta' / 'episodes'} row {row}: {name} is empty; fetch the dataset again"
            )
    for row, start in enumerate(episodes[names[-1]]):
        if not isinstance(start, (int, float)) or not math.isfinite(start):
            raise DatasetError(
                f"{root / 'meta' / 'episodes'} row {row}: {names[-1]} is {start!s:.40}, needed seconds; fetch the "
                "dataset again"
            )
    rows = zip(*(episodes[name] for name in (*names, *_ROWS)), strict=True)
    return [
        Clip(
            file_by_pattern(
                root, "video_path", pattern, _OWN, video_key=camera, chunk_index=chunk, file_index=file
            ),
            float(start),
            int(last - first),
        )
        for chunk, file, start, first, last in rows
    ]


def video_header(path: Path) -> VideoHeader:
    """Read the header of a video. Raises DatasetError: it is not there or cannot be read."""
    if not path.is_file():
        raise DatasetError(f"{path}: is not there; fetch the whole dataset, videos/ included")
    if _is_cut_off(path):
        raise DatasetError(f"{path}: is cut off; {_FETCH}")
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            duration = float((stream.duration or 0) * (stream.time_base or 0))
            return VideoHeader(stream.height, stream.width, float(stream.average_rate or 0), duration)
    except (av.FFmpegError, IndexError, TypeError) as error:
        raise DatasetError(f"{path}: is no video that can be read ({error}); {_FETCH}") from error


def _is_cut_off(path: Path) -> bool:
    """Whether the last box of an MP4 file (ISO/IEC 14496-12, 4.2) is longer than the file; a file without boxes is not.

    The header stands at the beginning of most and says nothing of it.
    """
    end, at = path.stat().st_size, 0
    with path.open("rb") as file:
        while at + 8 <= end:
            file.seek(at)
            head = file.read(16)
            if at == 0 and head[4:8] != b"ftyp":
                return False
            size = int.from_bytes(head[:4], "big")
            if size == 1:  # the size stands behind the name of the box
                size = int.from_bytes(head[8:], "big")
            if size < 8:  # the last one may say 0: up to the end
                return False
            at += size
    return at > end


def decode_episodes(clips: Sequence[Clip], fps: float) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames (H, W, 3) uint8 RGB of episodes, one after the other, `1 / fps` apart.

    Raises:
        DatasetError: a video is not there, cannot be decoded, or has no frame where one should be.
    """
    runs: list[list[Clip]] = []
    end_s = 0.0
    for clip in clips:
        # Episodes may share frames, to which a decoder does not go back.
        if runs and runs[-1][-1].path == clip.path and clip.start_s >= end_s - SLACK / fps:
            runs[-1].append(clip)
        else:
            runs.append([clip])
        end_s = clip.start_s + clip.frames / fps
    for run in runs:
        yield from _decode(run, fps)


def _decode(run: Sequence[Clip], fps: float) -> Iterator[NDArray[np.uint8]]:
    """Yield the frames of episodes that follow each other in one video: for each moment the nearest one."""
    path = run[0].path
    video_header(path)
    try:
        with av.open(str(path)) as container:
            container.streams.video[0].thread_type = "AUTO"
            shown = (
                (float(frame.time), frame) for frame in container.decode(video=0) if frame.time is not None
            )
            now, after = next(shown, None), next(shown, None)
            for clip in run:
                for step in range(clip.frames):
                    wanted = clip.start_s + step / fps
                    while now and after and abs(after[0] - wanted) <= abs(now[0] - wanted):
                        now, after = after, next(shown, None)
                    if now is None or abs(now[0] - wanted) * fps > SLACK:
                        raise DatasetError(f"{path}: has no frame at {wanted:.3f} s; {_FETCH}")
                    yield now[1].to_ndarray(format="rgb24").astype(np.uint8, copy=False)
    except av.FFmpegError as error:
        raise DatasetError(f"{path}: cannot be decoded ({error}); {_FETCH}") from error
