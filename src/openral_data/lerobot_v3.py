"""Write and read LeRobot datasets, format v3.0, with lossless images.

Layout (huggingface/lerobot, `docs/source/lerobot-dataset-v3.mdx`): `meta/info.json`, `meta/stats.json`,
`meta/tasks.parquet`, `meta/episodes/chunk-000/file-000.parquet`, `data/chunk-000/file-NNN.parquet`. Images are PNG
files inside the data, which the format allows as an alternative to video, so that small images have no compression
artefacts. Other datasets of this format, also those with videos, can be read.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from openral_core.errors import DatasetError, NotFoundError, OutputError
from openral_core.files.atomic import write_atomically
from openral_core.files.json_file import read_json_object
from openral_core.files.output_folder import check_folder
from openral_core.files.settings_difference import settings_difference
from openral_data.column_statistics import ColumnStatistics, stats_json
from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, decode_png
from openral_data.lerobot_meta import (
    names_of,
    read_episodes,
    read_info,
    read_rows,
    read_sentences,
    tasks_table,
)
from openral_data.numeric_columns import INDEX, joined_columns

FILE_BYTES = 100_000_000
"""Size of images in bytes from which on a data file is closed."""
CHUNK = 1000
SHARDS = "shards"
"""Folder of the shards of a collection, in that of the dataset."""
COLLECTION = "collection.json"
"""File with the settings of a collection, in the folder of the shards."""
_DATA = "data/chunk-{:03d}/file-{:03d}.parquet"
_TASK_LABEL = "label.success"
_OURS = "only datasets of `openral train collect` and `openral world-model collect` have it"


def begin_collection(root: Path, settings: Mapping[str, object]) -> Path:
    """Begin or continue a collection in a folder; return the folder of its shards.

    Args:
        root: folder of the dataset.
        settings: settings of the collection, as JSON values; only one with the same settings is continued.

    Raises:
        OutputError: the folder holds something else or a collection with other settings, or it cannot be written.
    """
    shards = root / SHARDS
    if root.is_dir() and any(root.iterdir()) and not shards.is_dir():
        raise OutputError(f"{root} holds something already that was not collected; name another --out")
    note, wanted = shards / COLLECTION, json.loads(json.dumps(settings))
    others = settings_difference(read_json_object(note, OutputError), wanted) if note.is_file() else ""
    if others:
        raise OutputError(f"{root} holds a collection with other settings: {others}; name another --out")
    check_folder(root, "--out")
    shards.mkdir(parents=True, exist_ok=True)
    write_atomically(note, json.dumps(wanted, indent=2) + "\n")
    return shards


@dataclass
class DatasetWriter:
    """Writes episodes one after another; `close` writes the meta files, before which nothing is readable.

    It deletes the dataset of an earlier collection; `begin_collection` checks that the folder holds nothing else.
    """

    root: Path
    form: DatasetMetadata
    _frames: int = 0
    _file: int = 0
    _bytes: int = 0
    _writer: pq.ParquetWriter | None = None
    _episodes: list[dict[str, Any]] = field(default_factory=list)
    _stats: dict[str, ColumnStatistics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Delete the dataset of an earlier collection, and the cache of frames resized for training."""
        for folder in ("data", "meta", ".cache"):
            shutil.rmtree(self.root / folder, ignore_errors=True)

    @property
    def episodes(self) -> int:
        """Number of episodes so far."""
        return len(self._episodes)

    def add(self, episode: Episode) -> None:
        """Append one episode."""
        if self._writer is None or self._bytes > FILE_BYTES:
            self._next_file()
        assert self._writer is not None
        self._writer.write_table(self._table(episode))
        self._bytes += sum(len(png) for images in episode.images.values() for png in images)
        sentence = self.form.words[episode.task_id]
        self._episodes.append(
            {
                "episode_index": len(self._episodes),
                "tasks": [sentence],
                "length": len(episode),
                "data/chunk_index": (self._file - 1) // CHUNK,
                "data/file_index": (self._file - 1) % CHUNK,
                "dataset_from_index": self._frames,
                "dataset_to_index": self._frames + len(episode),
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
                "sim_task": episode.task_id,
                "behaviour": episode.behaviour,
                "init_id": episode.init_id,
                "leg": episode.leg,
            }
        )
        self._frames += len(episode)
        for name, rows in (("observation.state", episode.state), ("action", episode.action)):
            self._stats.setdefault(name, ColumnStatistics()).add(rows)

    def close(self) -> None:
        """Finish the data files and write `meta/`."""
        if self._writer is not None:
            self._writer.close()
        meta = self.root / "meta"
        (meta / "episodes" / "chunk-000").mkdir(parents=True, exist_ok=True)
        pq.write_table(
            pa.Table.from_pylist(self._episodes), meta / "episodes" / "chunk-000" / "file-000.parquet"
        )
        sentences = [self.form.words[task] for task in self.form.tasks]
        pq.write_table(tasks_table(sentences), meta / "tasks.parquet")
        (meta / "stats.json").write_text(stats_json(self._stats), encoding="utf-8")
        (meta / "info.json").write_text(json.dumps(self._info(), indent=2) + "\n", encoding="utf-8")

    def _info(self) -> dict[str, Any]:
        return {
            "codebase_version": "v3.0",
            "robot_type": self.form.robot_type,
            "total_episodes": len(self._episodes),
            "total_frames": self._frames,
            "total_tasks": len(self.form.tasks),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": FILE_BYTES // 1_000_000,
            "video_files_size_in_mb": 0,
            "fps": self.form.fps,
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": None,
            "features": self.form.features(),
        }

    def _next_file(self) -> None:
        if self._writer is not None:
            self._writer.close()
        path = self.root / _DATA.format(self._file // CHUNK, self._file % CHUNK)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(path, self.form.schema())
        self._file, self._bytes = self._file + 1, 0

    def _table(self, episode: Episode) -> pa.Table:
        steps = np.arange(len(episode))
        columns: dict[str, Any] = {
            **{
                key: [{"bytes": png, "path": None} for png in episode.images[key]]
                for key in self.form.cameras
            },
            "observation.state": _cells(episode.state),
            "action": _cells(episode.action),
            "label.chunk": _cells(episode.chunk.reshape(len(steps), -1)),
            "label.ahead": episode.ahead,
            "label.success": _cells(episode.success),
            "label.hand_to_object": _cells(episode.hand_to_object),
            "label.object_to_target": _cells(episode.object_to_target),
            "label.landmarks": _cells(episode.landmarks),
            "timestamp": (steps / self.form.fps).astype(np.float32),
            "frame_index": steps,
            "episode_index": np.full(len(steps), len(self._episodes)),
            "index": self._frames + steps,
            "task_index": np.full(len(steps), self.form.tasks.index(episode.task_id)),
        }
        return pa.table(columns, schema=self.form.schema())


@dataclass(frozen=True)
class Dataset:
    """A LeRobot v3 dataset on disk, which is read as whole columns or image by image."""

    root: Path
    info: dict[str, Any]
    episodes: dict[str, list[Any]]
    """Columns of meta/episodes."""

    def __len__(self) -> int:
        return int(self.info["total_frames"])

    @property
    def tasks(self) -> tuple[str, ...]:
        """The simulator tasks, in the order of the per-task columns.

        Raises:
            DatasetError: the dataset has no such columns.
        """
        if not self.has_task_labels:
            raise DatasetError(f"{self.root}: has no {_TASK_LABEL}; {_OURS}")
        return names_of(self.info["features"][_TASK_LABEL])

    @property
    def has_task_labels(self) -> bool:
        """Whether it was collected: labels have a column for each of `tasks`, whose number is its `task_index`.

        A column of that name without names of tasks is of another tool.
        """
        return bool(names_of(self.info["features"].get(_TASK_LABEL, {"dtype": ""})))

    @property
    def cameras(self) -> tuple[str, ...]:
        """The feature keys of the cameras, stored as images or as videos."""
        features = self.info["features"].items()
        return tuple(name for name, feature in features if feature["dtype"] in ("image", "video"))

    def sentences(self) -> dict[int, str]:
        """Return the sentence of each task index. Raises DatasetError: `meta/tasks.parquet` is missing or invalid."""
        return read_sentences(self.root)

    def columns(self, names: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Read whole columns (not images): (frames,), or (frames, n) for vectors and for features with names.

        Raises:
            DatasetError: there is no such column, a file cannot be read or holds no numbers, or there are more or fewer
                rows than `meta/info.json` says.
        """
        names, features = list(names), self.info["features"]
        missing = [name for name in names if name not in features]
        if missing:
            why = f"it has {', '.join(features)}"
            if missing[0] in INDEX:
                why = "every LeRobot v3 dataset has it; add it to the data and to meta/info.json"
            raise DatasetError(
                f"{self.root}: has no {missing[0]}; {_OURS if missing[0].startswith('label.') else why}"
            )
        tables = [(path, read_rows(path, names)) for path in self.files()]
        rows = sum(len(table) for _, table in tables)
        if rows != self.info["total_frames"]:
            raise DatasetError(
                f"{self.root / 'data'}: {rows} rows, but meta/info.json says {self.info['total_frames']}; fetch the "
                "whole dataset again"
            )
        return {
            name: joined_columns(
                self.root,
                name,
                features[name],
                [(path, table[name].combine_chunks()) for path, table in tables],
            )
            for name in names
        }

    def images(
        self,
        camera: str,
        progress: Callable[[int], None] = lambda frames: None,
        then: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] = lambda image: image,
    ) -> Iterator[NDArray[np.uint8]]:
        """Yield every frame (H, W, 3) uint8 RGB of one camera in order; PNG images are decoded in several threads.

        Args:
            camera: its feature key.
            progress: called with the number of frames since the last call.
            then: transforms each frame, such as a resize; called in any thread.

        Raises:
            NotFoundError: there is no such camera.
            DatasetError: its video is missing or cannot be decoded, or its images are not inside the data.
        """
        if camera not in self.cameras:
            have = ", ".join(self.cameras)
            raise NotFoundError(f"{self.root}: no camera '{camera}' in this dataset; it has {have}")
        if self.info["features"][camera]["dtype"] == "video":
            from openral_data.video_reader import clips, decode_episodes

            for image in decode_episodes(
                clips(self.root, self.info, self.episodes, camera), self.info["fps"]
            ):
                yield then(image)
                progress(1)
            return
        with ThreadPoolExecutor() as threads:
            for path in self.files():
                first = 0
                for files in _image_files(path, camera):
                    decoded = partial(_decoded, path, camera, then)
                    yield from threads.map(decoded, range(first, first + len(files)), files)
                    first += len(files)
                    progress(len(files))

    def image_files_digest(self, camera: str) -> str:
        """Return a SHA-256 over the names, sizes and modification times of the files with the images of a camera.

        Those that say where its images lie, `meta/info.json` and `meta/episodes`, are included. No content is read.
        """
        videos = sorted((self.root / "videos" / camera).rglob("*.mp4"))
        episodes = sorted((self.root / "meta" / "episodes").rglob("*.parquet"))
        digest = hashlib.sha256()
        for path in (self.root / "meta" / "info.json", *episodes, *self.files(), *videos):
            found = path.stat()
            of = [path.relative_to(self.root).as_posix(), found.st_size, found.st_mtime_ns]
            digest.update(json.dumps(of).encode())
        return digest.hexdigest()

    def files(self) -> list[Path]:
        """Return the data files in order. Raises DatasetError: there are none."""
        found = sorted((self.root / "data").glob("chunk-*/file-*.parquet"))
        if not found:
            raise DatasetError(f"{self.root / 'data'}: has no parquet file; fetch the whole dataset")
        return found


def _image_files(path: Path, camera: str) -> Iterator[list[bytes]]:
    """Yield the image files in the rows of a data file, up to 256 at once. Raises DatasetError: it holds none."""
    try:
        file = pq.ParquetFile(path)
        kinds = {field.name: field.type for field in file.schema_arrow}
        kind = kinds.get(camera)
        fields = list(kind) if kind is not None and pa.types.is_struct(kind) else []
        content = next((field.type for field in fields if field.name == "bytes"), None)
        if kind is None:
            raise DatasetError(f"{path}: has no column {camera}; fetch it again")
        if content is None or not (pa.types.is_binary(content) or pa.types.is_large_binary(content)):
            raise DatasetError(
                f"{path}: {camera} is stored as {kind}, needed image files in `bytes`; embed them"
            )
        for batch in file.iter_batches(256, columns=[camera]):
            column = batch.column(0)
            if column.null_count or column.field("bytes").null_count:
                raise DatasetError(f"{path}: names images of {camera} and holds none; embed them")
            yield column.field("bytes").to_pylist()
    except (OSError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DatasetError(f"{path}: column {camera} cannot be read ({why}); fetch it again") from error


def _decoded(
    path: Path,
    camera: str,
    then: Callable[[NDArray[np.uint8]], NDArray[np.uint8]],
    row: int,
    png: bytes,
) -> NDArray[np.uint8]:
    """Return the image in a row of a data file, after `then`. Raises DatasetError, which names both."""
    try:
        image = decode_png(png)
    except DatasetError as error:
        raise DatasetError(f"{path} row {row}: {camera}: {error}; fetch the file again") from error
    return then(image)


def _cells(rows: NDArray[Any]) -> Any:
    """Return rows (frames, n) for Arrow: lists, or plain numbers for n = 1, as in the format."""
    return rows[:, 0] if rows.shape[1] == 1 else list(rows)


def open_dataset(root: Path, maker: str = "openral train collect") -> Dataset:
    """Open the dataset in `root`.

    Args:
        root: its folder.
        maker: the command that makes such a dataset, for the message if there is none.

    Raises:
        NotFoundError: there is none, or its collection was not finished.
        DatasetError: its format is not v3, its meta files are damaged, or its path is no text in UTF-8.
    """
    info = read_info(root, maker)
    try:
        str(root).encode()
    except UnicodeEncodeError as error:
        raise DatasetError(f"{root}: its path is no text in UTF-8; rename the folder") from error
    return Dataset(root, info, read_episodes(root))
