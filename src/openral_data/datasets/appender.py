"""Appending of recorded episodes to a LeRobot v3 dataset, such that a kill at any moment loses no earlier episode.

Each episode has its own files in `data/`, `videos/` and `meta/episodes/`, and exists once its file in `meta/episodes/`
does. The files about the whole dataset (`tasks.parquet`, `stats.json`, `info.json`) are derived from these files, again
each time the dataset is opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from openral_core.errors import DatasetError
from openral_core.files.atomic import replaced_file, write_atomically
from openral_data.column_statistics import ColumnStatistics, stats_json
from openral_data.datasets.video_splicing import join_videos, key_frames
from openral_data.lerobot_meta import (
    episode_files,
    names_of,
    read_info,
    read_rows,
    read_sentences,
    tasks_table,
)
from openral_data.recorded_columns import RecordedColumns, whole

CHUNK = 1000
"""Largest number of files in one folder (`chunks_size`)."""
_TEXTS = (
    *(
        "recording_id",
        "skill",
        "skill_version",
        "scene",
        "sim_task",
        "mission",
        "goal_id",
        "strategy",
        "started",
    ),
    *("outcome", "outcome_source", "outcome_operator", "outcome_reward_model", "outcome_simulator"),
)
_NUMBERS = ("seed", "interventions", "repeated_images", "missing_steps", "missing_states")
_STATISTICS = ("min", "max", "mean", "std", "count")


@dataclass(frozen=True)
class NewEpisode:
    """An episode that is to be appended."""

    rows: pa.Table
    """T rows with the columns of `RecordedColumns.journal_schema`."""
    videos: Mapping[str, Sequence[tuple[Path, int]]]
    """Path and number of frames of each part, by feature key; T frames in total."""
    sentence: str
    """The instruction."""
    about: Mapping[str, Any]
    """Values of openral's own columns of `meta/episodes`; absent ones become empty or -1."""


class DatasetAppender:
    """A dataset to which episodes are appended. Only one process at a time may use it."""

    def __init__(self, root: Path, columns: RecordedColumns) -> None:
        """Open the dataset or create it.

        Raises:
            DatasetError: it has other columns, or is damaged.
        """
        self.root, self.columns = root, columns
        self._rows: list[dict[str, Any]] = []
        self._sentences: list[str] = []
        folder = root / "meta" / "episodes"
        if not (root / "meta" / "info.json").is_file() and not folder.is_dir():
            return
        if (root / "meta" / "info.json").is_file():
            self._check_columns(read_info(root))
        if (root / "meta" / "tasks.parquet").is_file():
            said = read_sentences(root)
            self._sentences = [said[number] for number in sorted(said)]
        for path in episode_files(root):
            self._rows += read_rows(path).to_pylist()
        if self._rows:
            self._write_summary()

    def __len__(self) -> int:
        """Return the number of episodes."""
        return len(self._rows)

    def number_of(self, recording_id: str) -> int | None:
        """Return the number of the episode with this `recording_id`; None: there is none."""
        numbers = (n for n, row in enumerate(self._rows) if row.get("recording_id") == recording_id)
        return next(numbers, None)

    def append(self, episode: NewEpisode) -> int:
        """Append an episode and return its number.

        Raises:
            DatasetError: its videos cannot be read.
            OSError: something cannot be written; the episode is then not part of the dataset.
        """
        number, count = len(self._rows), len(episode.rows)
        chunk, file = divmod(number, CHUNK)
        first = int(self._rows[-1]["dataset_to_index"]) if self._rows else 0
        if episode.sentence not in self._sentences:
            sentences = [*self._sentences, episode.sentence]
            _write_table(self.root / "meta" / "tasks.parquet", tasks_table(sentences))
            self._sentences = (
                sentences  # known only when it is written; else the next episode would not write it
            )
        statistics: dict[str, Any] = {}
        row: dict[str, Any] = {
            "episode_index": number,
            "tasks": [episode.sentence],
            "length": count,
            "data/chunk_index": chunk,
            "data/file_index": file,
            "dataset_from_index": first,
            "dataset_to_index": first + count,
            "meta/episodes/chunk_index": chunk,
            "meta/episodes/file_index": file,
        }
        for key, parts in episode.videos.items():
            target = self.root / f"videos/{key}/chunk-{chunk:03d}/file-{file:03d}.mp4"
            join_videos(target, parts, self.columns.fps)
            statistics[key] = _picture_statistics(target)
            row |= {
                f"videos/{key}/chunk_index": chunk,
                f"videos/{key}/file_index": file,
                f"videos/{key}/from_timestamp": 0.0,
                f"videos/{key}/to_timestamp": count / self.columns.fps,
            }
        table = self._data(episode, number, first)
        for name in self._measured():
            statistics[name] = _number_statistics(table[name])
        row |= {name: str(episode.about.get(name, "")) for name in _TEXTS}
        row |= {name: int(episode.about.get(name, -1)) for name in _NUMBERS}
        row["truncated"] = bool(episode.about.get("truncated", False))
        for name, said in statistics.items():
            row |= {f"stats/{name}/{what}": said[what] for what in _STATISTICS}
        _write_table(self.root / f"data/chunk-{chunk:03d}/file-{file:03d}.parquet", table)
        meta = self.root / f"meta/episodes/chunk-{chunk:03d}/file-{file:03d}.parquet"
        _write_table(meta, pa.Table.from_pylist([row], schema=self._episode_schema()))
        self._rows.append(row)
        self._write_summary()
        return number

    def mark(self, number: int, **about: str) -> None:
        """Change text columns of an episode in `meta/episodes`, such as its outcome. Raises OSError."""
        row = self._rows[number]
        row |= about
        chunk, file = divmod(number, CHUNK)
        meta = self.root / f"meta/episodes/chunk-{chunk:03d}/file-{file:03d}.parquet"
        _write_table(meta, pa.Table.from_pylist([row], schema=self._episode_schema()))

    def row(self, number: int) -> Mapping[str, Any]:
        """Return the row of an episode in `meta/episodes`."""
        return self._rows[number]

    def _check_columns(self, info: dict[str, Any]) -> None:
        """Raise DatasetError unless the dataset has these columns, with these names of values, and this rate."""
        wanted, found = self.columns.features(), info["features"]
        shapes = [{name: [f["dtype"], *f["shape"]] for name, f in table.items()} for table in (wanted, found)]
        if shapes[0] != shapes[1]:
            other = [name for name in {**wanted, **found} if shapes[0].get(name) != shapes[1].get(name)]
            raise DatasetError(
                f"{self.root}: this recording has {other[0]} {shapes[0].get(other[0])}, the dataset "
                f"{shapes[1].get(other[0])}; record into another folder"
            )
        for name, feature in wanted.items():
            ours, theirs = names_of(feature), names_of(found[name])
            if ours and theirs and ours != theirs:
                raise DatasetError(
                    f"{self.root}: the values of {name} are {', '.join(ours)} in this recording, in the dataset "
                    f"{', '.join(theirs)}; record into another folder"
                )
        if abs(info["fps"] - self.columns.fps) > 1e-9:
            raise DatasetError(
                f"{self.root}: holds {info['fps']:g} frames a second, this recording {self.columns.fps:g}; "
                "record into another folder"
            )

    def _measured(self) -> list[str]:
        """Return the columns of numbers that have statistics."""
        return [name for name, (dtype, _, _) in self.columns.vectors().items() if dtype != "bool"]

    def _data(self, episode: NewEpisode, number: int, first: int) -> pa.Table:
        """Return the rows with LeRobot's own columns."""
        count = len(episode.rows)
        steps = np.arange(count)
        table = episode.rows.append_column(
            "timestamp", pa.array((steps / self.columns.fps).astype(np.float32))
        )
        task = self._sentences.index(episode.sentence)
        for name, values in (
            ("frame_index", steps),
            ("episode_index", np.full(count, number)),
            ("index", first + steps),
            ("task_index", np.full(count, task)),
        ):
            table = table.append_column(name, pa.array(values.astype(np.int64)))
        return table

    def _episode_schema(self) -> pa.Schema:
        """Return the types of a row of `meta/episodes`, the same for each episode."""
        integers = [
            *("episode_index", "length", "data/chunk_index", "data/file_index", "dataset_from_index"),
            *("dataset_to_index", "meta/episodes/chunk_index", "meta/episodes/file_index", *_NUMBERS),
        ]
        fields = {name: pa.int64() for name in integers} | {"tasks": pa.list_(pa.string())}
        pictures = pa.list_(pa.list_(pa.list_(pa.float64())))
        for camera in self.columns.cameras:
            base = f"videos/{camera.key}"
            fields |= {f"{base}/chunk_index": pa.int64(), f"{base}/file_index": pa.int64()}
            fields |= {f"{base}/from_timestamp": pa.float64(), f"{base}/to_timestamp": pa.float64()}
        fields |= {name: pa.string() for name in _TEXTS} | {"truncated": pa.bool_()}
        kinds = {camera.key: pictures for camera in self.columns.cameras}
        kinds |= {name: pa.list_(pa.float64()) for name in self._measured()}
        for name, kind in kinds.items():
            fields |= {f"stats/{name}/{what}": kind for what in _STATISTICS[:-1]}
            fields[f"stats/{name}/count"] = pa.list_(pa.int64())
        return pa.schema(list(fields.items()))

    def _write_summary(self) -> None:
        """Write the files about the whole dataset."""
        meta = self.root / "meta"
        columns: dict[str, ColumnStatistics] = {}
        for name in (*(camera.key for camera in self.columns.cameras), *self._measured()):
            columns[name] = ColumnStatistics()
            for row in self._rows:
                columns[name].add_counted({what: row[f"stats/{name}/{what}"] for what in _STATISTICS})
        _write_text(meta / "stats.json", stats_json(columns))
        _write_text(meta / "info.json", json.dumps(self._info(), indent=2) + "\n")

    def _info(self) -> dict[str, Any]:
        return {
            "codebase_version": "v3.0",
            "robot_type": self.columns.robot_type,
            "total_episodes": len(self._rows),
            "total_frames": int(self._rows[-1]["dataset_to_index"]) if self._rows else 0,
            "total_tasks": len(self._sentences),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 500,
            "fps": whole(self.columns.fps),
            "splits": {"train": f"0:{len(self._rows)}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
            "features": self.columns.features(),
            "control_hz": self.columns.control_hz,
            "scene": self.columns.scene,
        }


def _number_statistics(column: Any) -> dict[str, list[Any]]:
    rows = np.array(column.to_pylist(), np.float64)
    statistics = ColumnStatistics()
    statistics.add(rows.reshape(len(rows), -1))
    return statistics.as_dict()


def _picture_statistics(video: Path) -> dict[str, list[Any]]:
    """Return the statistics of each colour (3, 1, 1) over the video's key frames, 0..1 as LeRobot counts them."""
    statistics = ColumnStatistics()
    frames = 0
    for image in key_frames(video):
        pixels: NDArray[np.float64] = image.reshape(-1, 3)[::16].astype(np.float64) / 255.0
        statistics.add(pixels.reshape(-1, 3, 1, 1))
        frames += 1
    return statistics.as_dict() | {"count": [frames]}


def _write_table(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_file(path, durable=True) as partial:
        pq.write_table(table, partial)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text, durable=True)
