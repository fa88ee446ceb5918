"""Merging and splitting of LeRobot v3 datasets of any origin: a new dataset of selected episodes of others.

Videos are copied as whole files, including other episodes in them; rows are rewritten with new numbers.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from openral_core.errors import DatasetError, NotFoundError, OutputError, UsageError
from openral_core.files.output_folder import check_new_folder
from openral_data.column_statistics import ColumnStatistics, MeanQuantiles, stats_json
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_meta import episode_files, names_of, read_rows, tasks_table
from openral_data.lerobot_v3 import Dataset
from openral_data.numeric_columns import INDEX, flat_index
from openral_data.video_reader import clips

CHUNK = 1000
"""Largest number of files in one folder."""
_PLACES = (
    *("length", "episode_index", "dataset_from_index", "dataset_to_index"),
    *("meta/episodes/chunk_index", "meta/episodes/file_index", "data/chunk_index", "data/file_index"),
)
"""Columns of `meta/episodes` that are written anew."""
_NUMBERS = ("float", "int", "uint", "bool")
"""Beginnings of the types of columns that have statistics."""
_AGAIN = "fetch the dataset again"
MAX_DIGITS = 18
"""Largest number of digits of an episode's number."""


@dataclass(frozen=True)
class EpisodeSelection:
    """Selected episodes of one dataset."""

    dataset: Dataset
    episodes: tuple[int, ...]
    """Numbers, in their order in the dataset."""

    @classmethod
    def of(cls, dataset: Dataset, numbers: Iterable[int] | None = None) -> EpisodeSelection:
        """Return some episodes, or all. Raises NotFoundError: there is no such episode."""
        there = [int(number) for number in dataset.episodes["episode_index"]]
        known = set(there)
        chosen: set[int] = set()
        for number in there if numbers is None else numbers:  # perhaps of a huge range
            if number not in known:
                raise NotFoundError(f"{dataset.root}: no episode {number}; it has 0 to {len(there) - 1}")
            chosen.add(number)
        return cls(dataset, tuple(sorted(chosen)))


def parse_episodes(words: str) -> Iterator[int]:
    """Yield the numbers of a list such as `0,3-5`. Raises UsageError: it is not such a list."""
    ranges: list[range] = []
    for word in words.split(","):
        first, dash, last = word.strip().partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise UsageError(f"episodes: '{word:.40}' is no number and no range; write 0,3-5")
        if dash and int(last) < int(first):
            raise UsageError(f"episodes: '{word.strip()}' runs backwards; write {last}-{first}")
        ranges.append(range(int(first), int(last or first) + 1))
    return chain.from_iterable(ranges)


def _is_number(word: str) -> bool:
    return word.isdecimal() and len(word) <= MAX_DIGITS


def write_selection(out: Path, selections: Sequence[EpisodeSelection]) -> int:
    """Write a dataset of selected episodes, one selection after the other; return their number.

    Raises:
        DatasetError: the datasets have different robots, columns or rates, or selected episodes have faults or are the
            same, or there are none.
        OutputError: the folder is not empty, or cannot be written.
    """
    check_new_folder(out, "--out")
    if os.path.ismount(out):
        raise OutputError(f"--out {out}: is the root of a mounted disk; name a folder in it")
    selections = [selection for selection in selections if selection.episodes]
    if not selections:
        raise DatasetError(f"{out}: there is no episode to be written; record some first")
    for selection in selections[1:]:
        _check_alike(selections[0].dataset, selection.dataset)
        _check_same_tasks(selections[0].dataset, selection.dataset)
    _require_distinct(selections)
    for selection in selections:
        _require_sound(selection)
    target = out.resolve()
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
    try:
        writer = _SelectionWriter(partial, selections[0].dataset)
        for selection in selections:
            writer.add(selection)
        count = writer.finish()
        if target.exists():
            target.rmdir()  # which is empty
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return count


def _require_distinct(selections: Sequence[EpisodeSelection]) -> None:
    """Raise DatasetError if an episode is selected twice, since it would have a double weight in training and tests.

    Recorded episodes are identified by `recording_id`, also in copies of their dataset; others by dataset and number.
    """
    known: dict[object, tuple[Path, int]] = {}
    for selection in selections:
        root, episodes = selection.dataset.root, selection.dataset.episodes
        ids = dict(zip(episodes["episode_index"], episodes.get("recording_id", ()), strict=False))
        for number in selection.episodes:
            first, of = known.setdefault(ids.get(number) or (root.resolve(), number), (root, number))
            if first is not root:
                raise DatasetError(
                    f"{root}: episode {number} is episode {of} of {first} as well, and would be there twice; name each "
                    "dataset once, or take the other episodes with `openral data split`"
                )


def _require_sound(selection: EpisodeSelection) -> None:
    """Raise DatasetError if the selected episodes have faults; of videos only the headers are checked."""
    root = selection.dataset.root
    for fault in dataset_faults(root, videos=False, episodes=frozenset(selection.episodes)):
        raise DatasetError(
            f"{root}: {fault.removeprefix(f'{root}/')}; mend it, or take the other episodes with `openral data split`. "
            f"All faults: `openral data check {root}`"
        )


def _check_alike(first: Dataset, other: Dataset) -> None:
    """Raise DatasetError unless robot, rate, columns, and the names of the columns' values are the same."""
    ours, theirs = (
        {
            name: (feature["dtype"], tuple(feature["shape"]))
            for name, feature in dataset.info["features"].items()
        }
        for dataset in (first, other)
    )
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            raise DatasetError(
                f"{other.root}: {name} is {theirs.get(name)}, in {first.root} {ours.get(name)}; they cannot be merged"
            )
    for name in ours:
        here, there = (names_of(dataset.info["features"][name]) for dataset in (first, other))
        if here and there and here != there:
            raise DatasetError(
                f"{other.root}: the values of {name} are {', '.join(there)}, in {first.root} {', '.join(here)}; they "
                "cannot be merged"
            )
    if first.info["fps"] != other.info["fps"]:
        raise DatasetError(
            f"{other.root}: {other.info['fps']} frames a second, {first.root} has {first.info['fps']}"
        )
    robots = [dataset.info.get("robot_type") for dataset in (first, other)]
    if all(robots) and robots[0] != robots[1]:
        raise DatasetError(
            f"{other.root}: recorded with the robot {robots[1]}, {first.root} with {robots[0]}; they cannot be merged"
        )


def _check_same_tasks(first: Dataset, other: Dataset) -> None:
    """Raise DatasetError unless two collected datasets have the same sentence for each column of their labels."""
    if not first.has_task_labels:
        return
    ours, theirs = first.sentences(), other.sentences()
    for number, task in enumerate(first.tasks):
        if ours.get(number) != theirs.get(number):
            raise DatasetError(
                f"{other.root}: {task} is '{theirs.get(number)}', in {first.root} '{ours.get(number)}'; they cannot "
                "be merged"
            )


@dataclass
class _SelectionWriter:
    """Writes a dataset of selected episodes."""

    out: Path
    first: Dataset
    _rows: list[pa.Table] = field(default_factory=list)
    _sentences: list[str] = field(default_factory=list)
    _statistics: dict[str, ColumnStatistics] = field(default_factory=dict)
    _quantiles: dict[str, MeanQuantiles] = field(default_factory=dict)
    _frames: int = 0
    _data_files: int = 0
    _video_files: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the tasks of a collected dataset, whose labels have a column for each, in this order."""
        if self.first.has_task_labels:
            said = self.first.sentences()
            self._sentences = [said[number] for number in sorted(said)]

    def add(self, selection: EpisodeSelection) -> None:
        """Add the episodes of one dataset."""
        dataset = selection.dataset
        meta = pa.concat_tables(
            [read_rows(path) for path in episode_files(dataset.root)], promote_options="permissive"
        )
        chosen = meta.filter(pc.is_in(meta["episode_index"], pa.array(selection.episodes, pa.int64())))
        rows = chosen.to_pylist()
        first = sum(len(table) for table in self._rows)
        renumbered = {number: first + place for place, number in enumerate(selection.episodes)}
        places = self._copy_data(dataset, renumbered)
        videos = self._copy_videos(dataset, rows)
        for row in rows:
            old = int(row["episode_index"])
            row["length"] = int(row["dataset_to_index"]) - int(row["dataset_from_index"])
            row["episode_index"] = renumbered[old]
            row["meta/episodes/chunk_index"] = row["meta/episodes/file_index"] = 0
            row["data/chunk_index"], row["data/file_index"], row["dataset_from_index"] = places[old]
            row["dataset_to_index"] = row["dataset_from_index"] + row["length"]
            row.update(videos.get(old, {}))
            try:
                self._count_pictures(dataset, row)
                self._count_quantiles(dataset, row)
            except (ValueError, TypeError, LookupError) as error:
                raise DatasetError(
                    f"{dataset.root / 'meta' / 'episodes'}: the statistics of episode {old} are no numbers ({error}); "
                    f"{_AGAIN}"
                ) from error
        schema = chosen.schema.remove_metadata()
        for name in (*_PLACES, *(place for found in videos.values() for place in found)):
            number, at = pa.field(name, pa.int64()), schema.get_field_index(name)
            schema = schema.append(number) if at < 0 else schema.set(at, number)
        self._rows.append(pa.Table.from_pylist(rows, schema=schema))

    def finish(self) -> int:
        """Write the meta files and return how many episodes there are."""
        meta = self.out / "meta"
        folder = meta / "episodes" / "chunk-000"
        folder.mkdir(parents=True)
        try:
            table = pa.concat_tables(self._rows, promote_options="permissive")
        except pa.ArrowException as error:
            why = " ".join(str(error).split())
            raise DatasetError(
                f"{self.out}: meta/episodes of the datasets do not go together ({why})"
            ) from error
        pq.write_table(table, folder / "file-000.parquet")
        pq.write_table(tasks_table(self._sentences), meta / "tasks.parquet")
        (meta / "stats.json").write_text(stats_json(self._statistics, self._quantiles), encoding="utf-8")
        info = {
            **self.first.info,
            "total_episodes": len(table),
            "total_frames": self._frames,
            "total_tasks": len(self._sentences),
            "splits": {"train": f"0:{len(table)}"},
            "chunks_size": CHUNK,
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        }
        if self._video_files:
            info["video_path"] = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
        (meta / "info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")
        return len(table)

    def _copy_data(self, dataset: Dataset, renumbered: dict[int, int]) -> dict[int, tuple[int, int, int]]:
        """Write the chosen rows with their new numbers; return chunk, file and first row of each old episode."""
        said = dataset.sentences()
        tasks = {
            number: number if dataset.has_task_labels else self._task(sentence)
            for number, sentence in said.items()
        }
        places: dict[int, tuple[int, int, int]] = {}
        for path in dataset.files():
            table = flat_index(read_rows(path))
            table = table.filter(pc.is_in(table["episode_index"], pa.array(list(renumbered), pa.int64())))
            if not len(table):
                continue
            chunk, number = divmod(self._data_files, CHUNK)
            self._data_files += 1
            episodes = table["episode_index"].to_pylist()
            for offset, episode in enumerate(episodes):
                places.setdefault(episode, (chunk, number, self._frames + offset))
            for name, values in (
                ("episode_index", [renumbered[episode] for episode in episodes]),
                ("task_index", [tasks[task] for task in table["task_index"].to_pylist()]),
                ("index", range(self._frames, self._frames + len(table))),
            ):
                table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.int64()))
            self._count_numbers(dataset, table)
            self._frames += len(table)
            target = self.out / f"data/chunk-{chunk:03d}/file-{number:03d}.parquet"
            target.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, target)
        return places

    def _copy_videos(self, dataset: Dataset, rows: list[dict[str, Any]]) -> dict[int, dict[str, int]]:
        """Copy the videos in which chosen episodes lie; return the new places by the old numbers of episodes."""
        places: dict[int, dict[str, int]] = {}
        for key in dataset.cameras:
            if dataset.info["features"][key]["dtype"] != "video":
                continue
            paths = clips(
                dataset.root, dataset.info, {name: [row[name] for row in rows] for name in rows[0]}, key
            )
            copied: dict[Path, int] = {}
            for row, clip in zip(rows, paths, strict=True):
                if clip.path not in copied:
                    number = self._video_files[key] = self._video_files.get(key, -1) + 1
                    copied[clip.path] = number
                    chunk, file = divmod(number, CHUNK)
                    target = self.out / f"videos/{key}/chunk-{chunk:03d}/file-{file:03d}.mp4"
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(clip.path, target)
                chunk, file = divmod(copied[clip.path], CHUNK)
                place = places.setdefault(int(row["episode_index"]), {})
                place |= {f"videos/{key}/chunk_index": chunk, f"videos/{key}/file_index": file}
        return places

    def _task(self, sentence: str) -> int:
        if sentence not in self._sentences:
            self._sentences.append(sentence)
        return self._sentences.index(sentence)

    def _count_numbers(self, dataset: Dataset, table: pa.Table) -> None:
        """Count the numbers of rows as LeRobot does: those of a matrix by its columns."""
        for name, feature in dataset.info["features"].items():
            if feature["dtype"].startswith(_NUMBERS) and name in table.column_names:
                rows = np.array(table[name].to_pylist(), np.float64)
                width = rows.shape[-1] if rows.ndim > 1 else 1
                if rows.size:  # there are features of no numbers, such as a shape of [0]
                    self._statistics.setdefault(name, ColumnStatistics()).add(
                        rows.reshape(-1, width), len(rows)
                    )

    def _count_quantiles(self, dataset: Dataset, row: dict[str, Any]) -> None:
        """Count an episode's quantiles by what its row says of them; those of its new numbers are not known."""
        for name in dataset.info["features"].keys() - INDEX:
            start = f"stats/{name}/"
            said = {key.removeprefix(start): value for key, value in row.items() if key.startswith(start)}
            self._quantiles.setdefault(name, MeanQuantiles()).add(said)

    def _count_pictures(self, dataset: Dataset, row: dict[str, Any]) -> None:
        """Count an episode's pictures by what its row says of them, where it does."""
        for key in dataset.cameras:
            said = {what: row.get(f"stats/{key}/{what}") for what in ("min", "max", "mean", "std", "count")}
            if all(value is not None for value in said.values()):
                self._statistics.setdefault(key, ColumnStatistics()).add_counted(said)
