"""The meta files of a LeRobot v3 dataset: its properties, its episodes, and the sentences of its tasks."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from openral_core.errors import DatasetError, NotFoundError
from openral_data.dataset_schema import is_folder_name
from openral_data.numeric_columns import is_list

FORMAT = "v3."
"""Required prefix of `codebase_version`."""
MAX_FPS = 10_000
"""[Hz] largest accepted rate of frames."""
MAX_FRAMES = 2**63
"""Numbers of rows are below this."""
_CONVERT = "python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=<owner/name>"
_NEEDED: dict[str, type | tuple[type, ...]] = {
    "fps": (int, float),
    "total_frames": int,
    "features": dict,
}
_SPANS = ("episode_index", "dataset_from_index", "dataset_to_index")
_AGAIN = "fetch the dataset again"


def read_info(root: Path, maker: str = "openral train collect") -> dict[str, Any]:
    """Return the content of `meta/info.json`.

    Args:
        root: folder of the dataset.
        maker: the command that makes such a dataset, for the message.

    Raises:
        NotFoundError: there is no such file, and so no finished dataset.
        DatasetError: it cannot be read, its format is not v3, or a required key is missing or invalid.
    """
    path = root / "meta" / "info.json"
    if not path.is_file():
        raise NotFoundError(f"{root}: no finished dataset here; make one with `{maker} --out {root}`")
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: cannot be read ({error}); fetch the dataset again") from error
    if not isinstance(info, dict):
        raise DatasetError(f"{path}: holds no keys; is this a LeRobot dataset?")
    _require_format(path, info.get("codebase_version"))
    for key, kind in _NEEDED.items():
        if not isinstance(info.get(key), kind) or isinstance(info[key], bool):
            raise DatasetError(f"{path}: {key} is missing or of another type; {_AGAIN}")
    if not 0 < info["fps"] <= MAX_FPS:  # NaN is not
        raise DatasetError(
            f"{path}: fps is {info['fps']}; write the frames a second, above 0 and at most {MAX_FPS}"
        )
    if not 0 <= info["total_frames"] < MAX_FRAMES:
        raise DatasetError(
            f"{path}: total_frames is {info['total_frames']:.3g}; write the number of rows in data/"
        )
    for name, feature in info["features"].items():
        if not _is_feature(feature):
            raise DatasetError(f"{path}: features.{name} has no dtype or no shape; {_AGAIN}")
        if feature["dtype"] in ("image", "video") and not is_folder_name(name):
            raise DatasetError(
                f"{path}: videos are in a folder of the feature's name, and features.{name:.80} names none; rename it"
            )
    found: dict[str, Any] = info
    return found


def _require_format(path: Path, version: object) -> None:
    """Raise DatasetError with a fix unless a dataset is of format v3."""
    if str(version).startswith(FORMAT):
        return
    if version is None:
        raise DatasetError(f"{path}: has no codebase_version; is this a LeRobot dataset? Needed is v3.0")
    numbers = re.match(r"v(\d{1,3})\.(\d{1,3})", str(version))
    found = (int(numbers[1]), int(numbers[2])) if numbers else None
    if found is None:
        fix = "it is none of LeRobot's versions"
    elif found > (3, 0):
        fix = "it is newer than this openral; update openral, or fetch the dataset's revision v3.0"
    elif found == (2, 1):
        fix = f"convert it: {_CONVERT}"
    else:
        fix = "LeRobot converts v2.1 only; convert it to that first, with the LeRobot of that time"
    raise DatasetError(f"{path}: codebase_version {version!s:.40}, needed v3.0; {fix}")


def _is_feature(feature: object) -> bool:
    """Return whether a feature has a dtype and a shape of non-negative integers."""
    if not isinstance(feature, dict) or not isinstance(feature.get("dtype"), str):
        return False
    shape = feature.get("shape")
    return isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape)


def names_of(feature: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of a vector's values; none for pictures, and where the dataset does not name them.

    LeRobot writes them as a list, or in groups such as `{"motors": [...]}`.
    """
    names = feature.get("names")
    if feature["dtype"] in ("image", "video"):
        return ()
    groups = list(names.values()) if isinstance(names, dict) else [names]
    return tuple(str(name) for group in groups if isinstance(group, list) for name in group)


def size_of(feature: dict[str, Any]) -> tuple[int, int] | None:
    """Return height and width [px] of a camera's feature; None: its shape does not have three dimensions."""
    shape, names = feature.get("shape"), feature.get("names")
    if not isinstance(shape, list) or len(shape) != 3:
        return None
    if isinstance(names, list) and len(names) == 3 and "height" in names and "width" in names:
        return int(shape[names.index("height")]), int(shape[names.index("width")])
    return (int(shape[1]), int(shape[2])) if shape[0] in (1, 3) else (int(shape[0]), int(shape[1]))


def file_by_pattern(root: Path, key: str, pattern: str, own: str, **values: object) -> Path:
    """Return the path of a file by a pattern of `meta/info.json`.

    Args:
        root: folder of the dataset.
        key: `data_path` or `video_path`.
        pattern: value of the key.
        own: the standard pattern of v3, for the message.
        values: values of the pattern's fields.

    Raises:
        DatasetError: the pattern is invalid or leads out of the dataset. Links are followed: in the cache of the
            Hugging Face Hub each file is a link to a folder beside the dataset.
    """
    where = f"{root / 'meta' / 'info.json'}: {key} '{pattern:.200}'"
    # a field of so many characters, or as many as another field says, which may fill the memory
    if re.search(r"\{[^}]*:[^}]*(?:\d{5}|\{)", pattern):
        raise DatasetError(f"{where} names no file; write v3's own, {own}")
    try:
        path = root / pattern.format(**values)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        *others, last = values
        raise DatasetError(
            f"{where} cannot be filled in with {', '.join(others)} and {last} ({error}); write v3's own, {own}"
        ) from error
    if not Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root)):
        raise DatasetError(f"{where} leads out of the dataset, to {path}; {_AGAIN}")
    if _is_too_long(path):
        raise DatasetError(f"{where} gives a path that is too long; write v3's own, {own}")
    return path


def _is_too_long(path: Path) -> bool:
    """Return whether no file can have a path, which only looking for it tells."""
    try:
        path.exists()
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def read_rows(path: Path, names: Sequence[str] | None = None) -> pa.Table:
    """Return columns of a parquet file; None: all.

    Raises:
        DatasetError: it cannot be read; the text names file and column.
    """
    try:
        return pq.read_table(path, columns=names)
    except (OSError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DatasetError(_missing_column(path, names) or _unreadable(path, names, why)) from error


def _missing_column(path: Path, names: Sequence[str] | None) -> str:
    """Return which column a parquet file lacks or has twice; empty: none, or nobody knows."""
    try:
        there = pq.read_schema(path).names
    except (OSError, pa.ArrowException):
        return ""
    for name in there if names is None else names:
        if there.count(name) != 1:
            return (
                f"{path}: has {'no' if name not in there else 'more than one'} column {name}; fetch it again"
            )
    return ""


def _unreadable(path: Path, names: Sequence[str] | None, why: str) -> str:
    """Return why a parquet file cannot be read, with the column where only that one cannot."""
    column = ""
    try:
        there = pq.read_schema(path).names
    except (OSError, pa.ArrowException):
        there, names = [], []
    for name in there if names is None else names:
        try:
            pq.read_table(path, columns=[name])
        except (OSError, pa.ArrowException):
            column = f"column {name} "
            break
    return f"{path}: {column}cannot be read ({why}); fetch it again"


def episode_files(root: Path) -> list[Path]:
    """Return the files of `meta/episodes` in order, without those that macOS leaves beside them (`._file-000…`)."""
    found = (root / "meta" / "episodes").glob("*/*.parquet")
    return sorted(path for path in found if not path.name.startswith("."))


def read_episodes(root: Path) -> dict[str, list[Any]]:
    """Return the columns of `meta/episodes`, without LeRobot's statistics of each episode.

    Raises:
        DatasetError: there are none, they cannot be read, or the rows of the episodes are missing or invalid.
    """
    folder, paths = root / "meta" / "episodes", episode_files(root)
    if not paths:
        raise DatasetError(
            f"{folder}: has no parquet file; fetch the whole dataset. If LeRobot recorded it here, nothing was kept or "
            "it was killed before `finalize()`: record it again"
        )
    tables = [read_rows(path, _episode_columns(path)) for path in paths]
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        why = " ".join(str(error).split())
        raise DatasetError(f"{folder}: its files do not go together ({why}); {_AGAIN}") from error
    for name in (*_SPANS, *({"length"} & set(table.column_names))):
        if name not in table.column_names:
            raise DatasetError(f"{folder}: has no column {name}; {_AGAIN}")
        if not pa.types.is_integer(table[name].type):
            raise DatasetError(f"{folder}: {name} holds {table[name].type}, needed whole numbers; {_AGAIN}")
    if "tasks" in table.column_names and not _is_texts(table["tasks"].type):
        raise DatasetError(f"{folder}: tasks holds {table['tasks'].type}, needed lists of texts; {_AGAIN}")
    try:
        episodes = dict(table.to_pydict())
    except UnicodeDecodeError as error:
        raise DatasetError(f"{folder}: has text that is not UTF-8 ({error}); {_AGAIN}") from error
    for fault in _span_faults(episodes):
        raise DatasetError(f"{folder} {fault}; {_AGAIN}")
    return episodes


def _episode_columns(path: Path) -> list[str]:
    """Return the columns of a file of `meta/episodes` without LeRobot's statistics of each episode."""
    try:
        return [name for name in pq.read_schema(path).names if not name.startswith("stats/")]
    except (OSError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DatasetError(f"{path}: cannot be read ({why}); {_AGAIN}") from error


def _span_faults(episodes: dict[str, list[Any]]) -> Iterator[str]:
    """Yield the faults of the ranges of rows of the episodes."""
    lengths = episodes.get("length")
    for row, (number, first, last) in enumerate(zip(*(episodes[name] for name in _SPANS), strict=True)):
        for name, value in zip(_SPANS, (number, first, last), strict=True):
            if value is None:
                yield f"row {row}: {name} is empty"
                return
        if first < 0:
            yield f"row {row}: episode {number} begins at row {first}"
        elif last <= first:
            yield f"row {row}: episode {number} ends at row {last}, before its first, {first}"
        elif lengths is not None and lengths[row] != last - first:
            yield f"row {row}: length of episode {number} is {lengths[row]}, but it has {last - first} rows"


def tasks_table(sentences: Sequence[str]) -> pa.Table:
    """Return the table of `meta/tasks.parquet`, with the sentences as the pandas index that LeRobot expects."""
    table = pa.table({"task_index": pa.array(range(len(sentences)), pa.int64()), "task": list(sentences)})
    kinds = {"task_index": ("int64", "int64"), "task": ("unicode", "object")}
    columns = [
        {"name": name, "field_name": name, "pandas_type": pandas, "numpy_type": numpy, "metadata": None}
        for name, (pandas, numpy) in kinds.items()
    ]
    pandas = {"index_columns": ["task"], "columns": columns, "column_indexes": []}
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})


def read_sentences(root: Path) -> dict[int, str]:
    """Return the sentence of each task index of `meta/tasks.parquet`.

    The sentences are the index of pandas, in the column `task` or `__index_level_0__`.

    Raises:
        DatasetError: there is no such file, it cannot be read, or it lacks a column.
    """
    path = root / "meta" / "tasks.parquet"
    if not path.is_file():
        raise DatasetError(
            f"{path}: is missing, so nothing says what was asked for; fetch it, or write the columns "
            "task_index and task"
        )
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: cannot be read ({error}); fetch it again") from error
    kinds = {field.name: field.type for field in table.schema}
    words = [name for name, kind in kinds.items() if _is_text(kind)]
    number = kinds.get("task_index", pa.null())
    if not words or not (pa.types.is_integer(number) or pa.types.is_floating(number)):
        have = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
        raise DatasetError(
            f"{path}: has columns {have}; needed task_index, of whole numbers, and task, of text"
        )
    try:
        sentences = table["task" if "task" in words else words[0]].to_pylist()
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: has text that is not UTF-8 ({error}); {_AGAIN}") from error
    return dict(zip(_task_numbers(path, table["task_index"].to_pylist()), sentences, strict=True))


def _task_numbers(path: Path, numbers: Sequence[int | float | None]) -> list[int]:
    """Return the numbers of tasks. Raises DatasetError: one is none, or is there twice."""
    found: dict[int, None] = {}
    for row, number in enumerate(numbers):
        if number is None or not float(number).is_integer():
            raise DatasetError(
                f"{path} row {row}: task_index is empty or no whole number; repair it, or {_AGAIN}"
            )
        if int(number) in found:
            raise DatasetError(f"{path} row {row}: task {int(number)} is there twice; keep one of the two")
        found[int(number)] = None
    return list(found)


def _is_texts(kind: pa.DataType) -> bool:
    """Return whether a column holds lists of text, or nothing but empty ones."""
    return pa.types.is_null(kind) or (
        is_list(kind) and (_is_text(kind.value_type) or pa.types.is_null(kind.value_type))
    )


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a column holds text; a dictionary of texts is what pandas makes of categories."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
