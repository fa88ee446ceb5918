"""The meta files of a LeRobot v3 dataset: what it says of itself, its episodes, the sentences of its tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from openral_core.errors import DatasetError, NotFoundError

FORMAT = "v3."
"""How `codebase_version` begins."""
_CONVERT = "python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=<owner/name>"
_NEEDED: dict[str, type | tuple[type, ...]] = {
    "fps": (int, float),
    "total_frames": int,
    "features": dict,
}
_SPANS = ("episode_index", "dataset_from_index", "dataset_to_index")


def read_info(root: Path, maker: str = "openral train collect") -> dict[str, Any]:
    """Return the content of `meta/info.json`.

    Args:
        root: folder of the dataset.
        maker: the command that makes what is wanted, for the message.

    Raises:
        NotFoundError: there is none, so no finished dataset.
        DatasetError: it cannot be read, is of another format than v3, or lacks what every dataset states.
    """
    path = root / "meta" / "info.json"
    if not path.is_file():
        raise NotFoundError(f"{root}: no finished dataset here; make one with `{maker} --out {root}`")
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read ({error}); fetch the dataset again") from error
    version = info.get("codebase_version") if isinstance(info, dict) else None
    if not str(version).startswith(FORMAT):
        raise DatasetError(f"{path}: codebase_version {version}, needed v3.0; convert it: {_CONVERT}")
    for key, kind in _NEEDED.items():
        if not isinstance(info.get(key), kind):
            raise DatasetError(f"{path}: {key} is missing or of another type; fetch the dataset again")
    for name, feature in info["features"].items():
        if not (isinstance(feature, dict) and "dtype" in feature and isinstance(feature.get("shape"), list)):
            raise DatasetError(f"{path}: features.{name} has no dtype or no shape; fetch the dataset again")
    found: dict[str, Any] = info
    return found


def read_episodes(root: Path) -> dict[str, list[Any]]:
    """Return the columns of `meta/episodes`, without the statistics that LeRobot keeps of each episode.

    Raises:
        DatasetError: there are none, or they cannot be read.
    """
    folder = root / "meta" / "episodes"
    paths = sorted(folder.glob("*/*.parquet"))
    if not paths:
        raise DatasetError(f"{folder}: has no parquet file; fetch the whole dataset")
    try:
        names = [name for name in pq.read_schema(paths[0]).names if not name.startswith("stats/")]
        table = pa.concat_tables(pq.read_table(path, columns=names) for path in paths)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{folder}: cannot be read ({error}); fetch the dataset again") from error
    missing = [name for name in _SPANS if name not in table.column_names]
    if missing:
        raise DatasetError(f"{folder}: has no column {missing[0]}; fetch the dataset again")
    return dict(table.to_pydict())


def tasks_table(sentences: Sequence[str]) -> pa.Table:
    """Return `meta/tasks.parquet`: pandas, by which LeRobot reads it, takes the sentences as its index."""
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

    pandas writes the sentences as its index, whose column is `task` or `__index_level_0__`.

    Raises:
        DatasetError: there is no such file, it cannot be read, or holds something else.
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
    words = [n for n, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    if "task_index" not in kinds or not words:
        raise DatasetError(f"{path}: has columns {', '.join(kinds)}; needed task_index and task")
    sentences = table["task" if "task" in words else words[0]].to_pylist()
    return dict(zip(table["task_index"].to_pylist(), sentences, strict=True))
