"""Conversion of segments to an episode of the dataset, after a recording and in a repair."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from openral_core.errors import DatasetError
from openral_data.datasets.appender import DatasetAppender, NewEpisode
from openral_data.datasets.video_splicing import readable_frames
from openral_data.episode_bag import UNREADABLE, complete_bag, join_bags
from openral_data.recording.journal import Segment, read_segment
from openral_data.recording.video_process import video_file
from openral_data.recording_folder import BAG_NAME, RecordingFolder

LEAST_FRAMES = 2
"""Least number of frames of an episode; a shorter one is deleted."""
NO_WORDS = "unknown task"
"""Sentence of an episode without an instruction."""


@dataclass(frozen=True)
class FinishedEpisode:
    """Result of the conversion of segments."""

    number: int | None
    """Number of the episode; None: it was too short and deleted."""
    frames: int
    """Number of frames."""
    remark: str = ""
    appended: bool = True
    """False: the dataset already had an episode with this `recording_id`."""


def finish_episode(
    folder: RecordingFolder, appender: DatasetAppender, segments: Sequence[Path], about: Mapping[str, Any]
) -> FinishedEpisode:
    """Join segments and append them as one episode, move its bag to the recording, and delete the segments.

    Args:
        folder: of the recording.
        appender: of its dataset.
        segments: folders in temporal order.
        about: metadata of the episode: `sentence`, and columns of `meta/episodes`.

    Raises:
        DatasetError: a segment is damaged beyond its end, or another bag lies where that of the new episode belongs.
        OSError: the disk is full; the segments stay.
    """
    parts = [read_segment(path) for path in segments]
    counts = [_whole_frames(part) for part in parts]
    cut_off = bool(about.get("truncated")) or not all(part.complete for part in parts)
    total = sum(counts)
    number = appender.number_of(str(about.get("recording_id")))
    appended = number is None
    if number is None and total < LEAST_FRAMES:
        delete_segments(segments)
        return FinishedEpisode(None, total, f"{total} frames are no episode")
    if number is None:  # else it was appended before, without its bag
        _require_free(folder.bag_of(len(appender)))
        rows = pa.concat_tables(part.rows.slice(0, n) for part, n in zip(parts, counts, strict=True))
        interventions = sum(rows["intervention"].to_pylist())
        number = appender.append(
            NewEpisode(
                rows=rows.combine_chunks(),
                videos={
                    camera.key: [
                        (video_file(part.folder, camera.key), n)
                        for part, n in zip(parts, counts, strict=True)
                        if n
                    ]
                    for camera in appender.columns.cameras
                },
                sentence=str(about.get("sentence") or NO_WORDS),
                about={**about, "interventions": interventions, "truncated": cut_off},
            )
        )
    has_all = _keep_bags([path / BAG_NAME for path in segments], folder.bag_of(number))
    delete_segments(segments)
    remarks = [*(["cut off"] if cut_off else []), *([] if has_all else ["without all of its bag"])]
    return FinishedEpisode(number, total, ", ".join(remarks), appended)


def _require_free(bag: Path) -> None:
    """Raise DatasetError if a bag is there already: that of the new episode would have no place, and be lost."""
    if bag.exists():
        raise DatasetError(
            f"{bag}: is there already, and its episode is not in the dataset beside it; move it away, then "
            "`openral data repair`"
        )


def _whole_frames(part: Segment) -> int:
    """Return the number of frames that have a row and an image of each camera."""
    rows = int(part.rows.num_rows)
    if part.complete or not rows:
        return rows
    videos = [video_file(part.folder, camera.key) for camera in part.columns.cameras]
    return min(rows, *(readable_frames(path) if path.is_file() else 0 for path in videos))


def _keep_bags(bags: Sequence[Path], target: Path) -> bool:
    """Move a bag, or join several, to a target folder, and complete truncated bags; return whether all were there.

    A target that exists is the same bag, which was moved before a kill.
    """
    if target.exists():
        return True
    there = [bag for bag in bags if bag.is_dir() and any(bag.glob("*.mcap"))]
    if not there:
        return False
    for bag in there:
        try:
            complete_bag(bag)
        except UNREADABLE as error:
            raise DatasetError(f"{bag}: cannot be completed ({error})") from error
    target.parent.mkdir(parents=True, exist_ok=True)
    if len(there) == 1:
        there[0].replace(target)
    else:
        join_bags(there, target)
    return len(there) == len(bags)


def delete_segments(segments: Sequence[Path]) -> None:
    """Delete the folders of segments that exist."""
    for path in segments:
        shutil.rmtree(path, ignore_errors=True)
