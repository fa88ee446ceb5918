"""Repair of a recording whose recorder was killed or had a full disk."""

from __future__ import annotations

from pathlib import Path

from openral_core.errors import DatasetError, OpenralError
from openral_data.datasets.appender import DatasetAppender
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.finisher_thread import verdict_columns
from openral_data.recording.journal import read_segment
from openral_data.recording.segments_to_episode import finish_episode
from openral_data.recording_folder import RecordingFolder, RecordingLock


def repair_recording(folder: RecordingFolder, columns: RecordedColumns | None = None) -> list[str]:
    """Turn the remaining segments into episodes, and rewrite the dataset's meta files; return a line for each segment.

    Args:
        folder: of the recording.
        columns: of the dataset; None: those of the oldest segment.

    Raises:
        OpenralError: another process writes there, or the dataset is damaged.
        OSError: the disk is full.
    """
    left = folder.unfinished() if folder.segments.is_dir() else []
    if not left:
        return []
    lock = RecordingLock(folder)
    try:
        return _repair(folder, left, columns)
    finally:
        lock.release()


def _repair(folder: RecordingFolder, left: list[Path], columns: RecordedColumns | None) -> list[str]:
    lines = []
    appender: DatasetAppender | None = None
    for path in left:
        try:
            segment = read_segment(path)
            appender = appender or DatasetAppender(folder.dataset, columns or segment.columns)
            if segment.columns.features() != appender.columns.features():
                raise DatasetError(
                    f"{path}: has other columns than the dataset; move it to another recording"
                )
            truth = folder.root.parent / "truth.npz"
            said = {**segment.about, "truncated": not segment.complete or segment.about.get("truncated")}
            about = verdict_columns(said, truth if truth.is_file() else None, 0.0)
            done = finish_episode(folder, appender, [path], about)
        except OpenralError as error:
            lines.append(f"{path.name}: not repaired, {error}")
            continue
        kept = [] if done.number is None else [f"episode {done.number}, {done.frames} frames"]
        lines.append(f"{path.name}: {', '.join([*kept, *filter(None, [done.remark])])}")
    return lines
