"""Check of any LeRobot v3 dataset frame by frame, with one line for each fault."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from openral_core.errors import OpenralError
from openral_data.dataset_schema import MAY_BE_UNKNOWN
from openral_data.datasets.check_pictures import picture_faults
from openral_data.lerobot_meta import file_by_pattern, read_rows, read_sentences
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.numeric_columns import INDEX, is_list

TOLERANCE_S = 1e-3
"""[s] largest error of a frame's timestamp, which allows for float32 and for other clocks."""
_DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_KINDS = {
    "float32": pa.types.is_floating,
    "float64": pa.types.is_floating,
    "int64": pa.types.is_integer,
    "int32": pa.types.is_integer,
    "uint8": pa.types.is_integer,
    "bool": pa.types.is_boolean,
    "string": pa.types.is_string,
}


def dataset_faults(
    root: Path, *, videos: bool = True, episodes: Collection[int] | None = None
) -> Iterator[str]:
    """Yield the faults of a dataset, each with its place.

    Args:
        root: folder with `meta/`, `data/` and `videos/`.
        videos: whether every image is decoded; else only the headers of files are checked.
        episodes: numbers of the episodes to check, without the totals of info.json; None: all, with the totals.
    """
    try:
        dataset = open_dataset(root)
        sentences = read_sentences(root)
        files = dataset.files()
    except (OpenralError, OSError) as error:
        yield str(error)
        return
    names = _numbers(dataset, files)
    tables, unreadable = _tables(files, names)
    if unreadable:
        yield from unreadable
        return
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        yield f"data: its files have other columns than each other ({' '.join(str(error).split())})"
        return
    spans = _spans(dataset)
    chosen = [span for span in spans if episodes is None or span[0] in episodes]
    numbers = {number for number, _, _ in chosen}
    yield from _missing_columns(dataset, table)
    if episodes is None:
        yield from _total_faults(dataset, len(table), sentences)
        yield from _path_faults(dataset)
    yield from _label_faults(dataset, sentences, numbers)
    yield from _span_faults(spans, len(table))
    index = {name: table[name] for name in INDEX if name in table.column_names}
    no_numbers = {name: fault for name, column in index.items() if (fault := _kind_fault(name, column))}
    yield from (f"{name}: {fault}" for name, fault in no_numbers.items())
    rows = table.drop_columns(list(no_numbers))
    yield from _index_faults(dataset, rows, spans, sentences, numbers)
    used = sentences if episodes is None or dataset.has_task_labels else _used_tasks(rows, chosen)
    yield from _word_faults(sentences, used)
    for name in names:
        if name in table.column_names and name not in INDEX:
            yield from _value_faults(name, dataset.info["features"][name], table[name], chosen)
    yield from picture_faults(dataset, spans, decode=videos, episodes=episodes)


def _tables(files: list[Path], names: list[str]) -> tuple[list[pa.Table], list[str]]:
    """Return the columns of each file, and a line for each that cannot be read."""
    tables, unreadable = list[pa.Table](), list[str]()
    for path in files:
        try:
            tables.append(read_rows(path, names))
        except OpenralError as error:
            unreadable.append(str(error))
    return tables, unreadable


def _numbers(dataset: Dataset, files: list[Path]) -> list[str]:
    """Return the columns of numbers that the data files are to have, as far as the first readable one does."""
    there: set[str] = set()
    for path in files:
        try:
            there = set(pq.read_schema(path).names)
            break
        except (OSError, pa.ArrowException):
            continue
    features = dataset.info["features"]
    return [
        name
        for name, feature in features.items()
        if name in there and feature["dtype"] not in ("image", "video")
    ]


def _spans(dataset: Dataset) -> list[tuple[int, int, int]]:
    """Return number, first row and last row + 1 of each episode."""
    columns = (dataset.episodes[name] for name in ("episode_index", "dataset_from_index", "dataset_to_index"))
    return [(int(number), int(first), int(last)) for number, first, last in zip(*columns, strict=True)]


def _missing_columns(dataset: Dataset, table: pa.Table) -> Iterator[str]:
    features = dataset.info["features"]
    for name in INDEX:
        if name not in table.column_names:
            yield f"data: has no column {name}, which every LeRobot v3 dataset has"
    for name, feature in features.items():
        if feature["dtype"] == "video" or name in table.column_names or name in INDEX:
            continue
        if feature["dtype"] != "image":
            yield f"data: has no column {name}, which meta/info.json names"


def _total_faults(dataset: Dataset, rows: int, sentences: dict[int, str]) -> Iterator[str]:
    info = dataset.info
    episodes = len(dataset.episodes["episode_index"])
    for name, found in (
        ("total_frames", rows),
        ("total_episodes", episodes),
        ("total_tasks", len(sentences)),
    ):
        said = info.get(name)
        if said is not None and said != found:
            yield f"meta/info.json: {name} is {said}, there are {found}"


def _word_faults(sentences: dict[int, str], used: Collection[int]) -> Iterator[str]:
    """Yield a fault for each of the used tasks that has no words."""
    for number, sentence in sentences.items():
        if number in used and not str(sentence or "").strip():
            yield f"meta/tasks.parquet: task {number} has no words"


def _label_faults(dataset: Dataset, sentences: dict[int, str], chosen: Collection[int]) -> Iterator[str]:
    """Yield faults for the tasks of a collected dataset that are not those of the columns of its labels."""
    if not dataset.has_task_labels:
        return
    tasks, episodes = dataset.tasks, dataset.episodes
    if sorted(sentences) != list(range(len(tasks))):
        yield f"meta/tasks.parquet: has tasks {sorted(sentences)}, label.success has columns of {len(tasks)} tasks"
        return
    wanted = {task: sentences[number] for number, task in enumerate(tasks)}
    rows = (episodes.get(name, ()) for name in ("episode_index", "sim_task", "tasks"))
    for number, task, said in zip(*rows, strict=False):
        words = said[0] if said else ""
        if number in chosen and wanted.get(task, words) != words:
            yield (
                f"episode {number}: {task} is '{words}', but '{wanted[task]}' in meta/tasks.parquet, whose order is "
                "not that of the columns of label.success"
            )


def _path_faults(dataset: Dataset) -> Iterator[str]:
    """Yield faults for data files that are not where LeRobot's reader expects them."""
    pattern, names = dataset.info.get("data_path"), ("data/chunk_index", "data/file_index")
    missing = [name for name in names if name not in dataset.episodes]
    if missing:
        yield f"meta/episodes: has no column {missing[0]}, by which LeRobot finds the data"
    elif not isinstance(pattern, str):
        yield f"meta/info.json: has no data_path; write v3's own, {_DATA_PATH}"
    else:
        places = zip(*(dataset.episodes[name] for name in names), strict=True)
        for chunk, file in {str(place): place for place in places}.values():
            try:
                path = file_by_pattern(
                    dataset.root, "data_path", pattern, _DATA_PATH, chunk_index=chunk, file_index=file
                )
            except OpenralError as error:
                yield str(error)
                return
            if not path.is_file():
                yield f"meta/info.json: by data_path there is to be {path.relative_to(dataset.root)}; it is not there"


def _span_faults(spans: list[tuple[int, int, int]], rows: int) -> Iterator[str]:
    expected = 0
    for place, (number, first, last) in enumerate(spans):
        if number != place:
            yield f"meta/episodes row {place}: episode_index is {number}, expected {place}"
        if first != expected:
            yield f"episode {number}: begins at row {first}, the one before ends at {expected}"
        expected = last
    if spans and expected != rows:
        yield f"meta/episodes: the last episode ends at row {expected}, the data has {rows} rows"


def _kind_fault(name: str, column: Any) -> str:
    """Return why a column of `INDEX` holds no numbers, bare or in lists of one; empty: it does."""
    kind = column.type
    if is_list(kind):
        kind = kind.value_type
        if pc.unique(pc.list_value_length(column)).to_pylist() != [1]:
            return "holds lists of other lengths than one"
    if name == "timestamp":
        return "" if pa.types.is_floating(kind) else f"is stored as {kind}, needed floating point numbers"
    return "" if pa.types.is_integer(kind) else f"is stored as {kind}, needed whole numbers"


def _used_tasks(table: pa.Table, spans: list[tuple[int, int, int]]) -> set[Any]:
    """Return the values of `task_index` in some episodes."""
    if "task_index" not in table.column_names:
        return set()
    tasks = _array(table["task_index"])
    return {task for _, first, last in spans for task in tasks[first:last].tolist()}


def _index_faults(
    dataset: Dataset,
    table: pa.Table,
    spans: list[tuple[int, int, int]],
    sentences: dict[int, str],
    chosen: Collection[int],
) -> Iterator[str]:
    """Yield faults for rows of the chosen episodes whose indices do not match their position.

    Rows of the others are faults only where they say that they are of a chosen one.
    """
    fps = float(dataset.info["fps"])
    found = {name: _array(table[name]) for name in INDEX if name in table.column_names}
    for number, first, last in spans:
        rows = np.arange(first, min(last, len(table)))
        if number not in chosen:
            said = found["episode_index"][rows] if "episode_index" in found else rows[:0]
            for at in np.flatnonzero(np.isin(said, list(chosen))):
                yield f"episode {number} frame {at}: episode_index is {said[at]}, expected {number}"
            continue
        expected = {"frame_index": rows - first, "episode_index": np.full(len(rows), number), "index": rows}
        for name, wanted in expected.items():
            if name in found:
                wrong = np.flatnonzero(found[name][rows] != wanted)
                for at in wrong:
                    yield f"episode {number} frame {at}: {name} is {found[name][rows[at]]}, expected {wanted[at]}"
        if "timestamp" in found:
            stamps, wanted = found["timestamp"][rows].astype(float), (rows - first) / fps
            for at in np.flatnonzero(~(np.abs(stamps - wanted) <= TOLERANCE_S)):
                yield f"episode {number} frame {at}: timestamp is {stamps[at]:.4f} s, expected {wanted[at]:.4f} s"
        if "task_index" in found:
            tasks = found["task_index"][rows]
            for at in np.flatnonzero(~np.isin(tasks, list(sentences))):
                yield f"episode {number} frame {at}: task_index {tasks[at]} is not in meta/tasks.parquet"


def _value_faults(
    name: str, feature: dict[str, Any], column: Any, spans: list[tuple[int, int, int]]
) -> Iterator[str]:
    """Yield faults for a column whose type or length differs from its feature, or with invalid numbers."""
    kind = column.type
    while is_list(kind):
        kind = kind.value_type
    fits = _KINDS.get(str(feature["dtype"]))
    if (
        fits is not None
        and not fits(kind)
        and not (fits is _KINDS["string"] and pa.types.is_large_string(kind))
    ):
        yield f"{name}: is stored as {kind}, meta/info.json says {feature['dtype']}"
        return
    size = int(np.prod(feature["shape"])) if feature["shape"] else 1
    unknown = name in MAY_BE_UNKNOWN
    if _all_well(column.combine_chunks(), size, unknown=unknown):
        return
    for number, first, last in spans:
        for at, value in enumerate(column.slice(first, max(last - first, 0)).to_pylist()):
            fault = _value_fault(value, size, unknown=unknown)
            if fault:
                yield f"episode {number} frame {at}: {name} {fault}"


def _all_well(column: Any, size: int, *, unknown: bool) -> bool:
    """Return whether all cells have `size` finite numbers; False also means that each cell must be checked.

    Args:
        column: of a table, as one array.
        size: number of values in a cell.
        unknown: whether nan is allowed.
    """
    if column.null_count:
        return False
    lengths = [1]
    if is_list(column.type):
        lengths = pc.unique(pc.list_value_length(column)).to_pylist()
        column = column.flatten()
    if lengths != [size] or column.null_count:
        return False
    if pa.types.is_floating(column.type):
        well = pc.is_finite(column)
        return bool(pc.all(pc.or_(well, pc.is_nan(column)) if unknown else well).as_py())
    return bool(pa.types.is_integer(column.type) or pa.types.is_boolean(column.type))


def _value_fault(value: Any, size: int, *, unknown: bool) -> str:
    """Return the fault of one cell; empty: none. See `_all_well` for the arguments."""
    if value is None:
        return "is missing"
    if isinstance(value, str):
        return ""
    numbers = np.asarray(value).reshape(-1)
    if len(numbers) != size:
        return f"has {len(numbers)} numbers, meta/info.json says {size}"
    if numbers.dtype.kind == "f":
        bad = np.flatnonzero(np.isinf(numbers) if unknown else ~np.isfinite(numbers))
        if len(bad):
            return f"number {int(bad[0])} is not finite"
    if numbers.dtype.kind == "O":
        return "has a number that is missing"
    return ""


def _array(column: Any) -> NDArray[Any]:
    """Return (N,) of a column of numbers, bare or in lists of one."""
    return np.asarray([value[0] if isinstance(value, list) else value for value in column.to_pylist()])
