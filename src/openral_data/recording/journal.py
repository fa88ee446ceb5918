"""Segments, which are working folders of a recording that are readable after a kill up to the last flush.

segment.json            columns and metadata of the episode; replaced atomically at each change
frames.arrows           Arrow IPC stream of the rows, one batch at each flush
<feature key>.mp4       fragmented video of each camera
bag/                    MCAP
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from openral_core.errors import DatasetError
from openral_core.files.atomic import write_atomically
from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.encoder_client import VideoEncoder
from openral_data.recording.frame import RecordedFrame

ABOUT, ROWS = "segment.json", "frames.arrows"


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file atomically and durably. Raises OSError."""
    write_atomically(path, json.dumps(content, indent=2) + "\n", durable=True)


class SegmentWriter:
    """Writes the rows and videos of a segment. Not thread-safe."""

    def __init__(self, folder: Path, columns: RecordedColumns, encoder: VideoEncoder) -> None:
        """Create the folder and begin its files. Raises OSError or OutputError: it cannot be written."""
        folder.mkdir(parents=True)
        self.folder, self.columns = folder, columns
        self.frames = 0
        self._encoder = encoder
        self._schema = columns.journal_schema()
        self._waiting: list[dict[str, object]] = []
        self.describe({})
        self._file = (folder / ROWS).open("wb")
        self._rows = pa.ipc.new_stream(self._file, self._schema)
        encoder.begin(folder)

    def describe(self, about: dict[str, Any]) -> None:
        """Write the metadata of the episode. Raises OSError."""
        write_json(self.folder / ABOUT, {"columns": self.columns.as_json(), "about": about})

    def add(self, frame: RecordedFrame) -> None:
        """Add a frame. Raises OutputError: the encoder has ended."""
        self._encoder.add(frame.images)
        self._waiting.append(frame.row())
        self.frames += 1

    def flush(self) -> None:
        """Write the rows to the disk. Raises OSError."""
        if self._waiting:
            table = pa.Table.from_pylist(self._waiting, schema=self._schema)
            self._waiting = []
            for batch in table.combine_chunks().to_batches():
                self._rows.write_batch(batch)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Complete rows and videos. Raises OSError or OutputError: something cannot be written."""
        try:
            self.flush()
            self._encoder.finish()
            self._rows.close()  # last, since the end mark of the rows means that the videos are complete as well
        finally:
            self._file.close()


@dataclass(frozen=True)
class Segment:
    """A segment that was read back, complete or truncated."""

    folder: Path
    columns: RecordedColumns
    about: dict[str, Any]
    rows: pa.Table
    complete: bool = field(default=True)
    """Whether rows and videos are complete; else recorder or encoder was killed."""


def read_segment(folder: Path) -> Segment:
    """Read the readable part of a segment.

    Raises:
        DatasetError: its columns cannot be read.
    """
    try:
        said = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        columns = RecordedColumns.from_json(said["columns"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            f"{folder / ABOUT}: cannot be read ({error}); nothing says what the rows are, delete the folder"
        ) from error
    batches, complete = _batches(folder / ROWS)
    rows = pa.Table.from_batches(batches, schema=columns.journal_schema())
    return Segment(folder, columns, said.get("about", {}), rows, complete)


def _batches(path: Path) -> tuple[Sequence[pa.RecordBatch], bool]:
    """Return the complete batches of an Arrow stream, and whether it has its end mark."""
    batches: list[pa.RecordBatch] = []
    if not path.is_file():
        return batches, False
    with path.open("rb") as file:
        try:
            with pa.ipc.open_stream(file) as reader:
                batches.extend(reader)
        except (pa.ArrowException, OSError, EOFError):
            return batches, False
    return batches, _has_end(path)


def _has_end(path: Path) -> bool:
    """Return whether an Arrow stream has its end mark: a continuation and length 0 (Arrow columnar format, IPC)."""
    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        return file.read() == b"\xff\xff\xff\xff\x00\x00\x00\x00"
