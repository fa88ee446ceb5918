"""Columns of numbers of a LeRobot v3 dataset as arrays, whatever lists and types its files have them in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from openral_core.errors import DatasetError

INDEX = ("timestamp", "frame_index", "episode_index", "index", "task_index")
"""The columns that every dataset has, with one number a row; all but the first are whole."""
_AGAIN = "fetch the dataset again"


def is_list(kind: pa.DataType) -> bool:
    """Return whether the cells of a column are lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def flat_index(table: pa.Table) -> pa.Table:
    """Return a table whose columns of `INDEX` hold bare numbers, where they held lists of one number."""
    for place, name in enumerate(table.column_names):
        if name in INDEX and is_list(table[name].type):
            table = table.set_column(place, name, pc.list_flatten(table[name]))
    return table


def joined_columns(
    root: Path, name: str, feature: dict[str, Any], parts: Sequence[tuple[Path, pa.Array]]
) -> NDArray[Any]:
    """Return a column of all data files: (frames,), or (frames, n) for lists and for features with names.

    Args:
        root: folder of the dataset.
        name: of the column; those of `INDEX` are always (frames,).
        feature: what `meta/info.json` says of it.
        parts: the files and their part of the column.

    Raises:
        DatasetError: it holds no numbers, or rows of other lengths than each other or than the feature's shape.
    """
    wide = 1 if name in INDEX else int(np.prod(feature["shape"], dtype=int))
    arrays = [_dense(path, name, column) for path, column in parts]
    for (path, _), array in zip(parts, arrays, strict=True):
        count = array.shape[1] if array.ndim > 1 else 1
        if len(array) and count != wide:
            raise DatasetError(
                f"{path}: {name} has {count} numbers a row, meta/info.json says {wide}; correct it there, or {_AGAIN}"
            )
    arrays = [array for array in arrays if len(array)] or arrays[:1]
    if len({array.ndim for array in arrays}) > 1:  # bare numbers in some files, lists of one in others
        arrays = [array.reshape(-1) for array in arrays]
    found: NDArray[Any] = np.concatenate(arrays)
    if name in INDEX:
        found = found.reshape(-1)
        return found if name == "timestamp" else _whole(root, name, found)
    return found[:, None] if found.ndim == 1 and feature.get("names") else found


def _dense(path: Path, name: str, column: pa.Array) -> NDArray[Any]:
    """Return (frames,) of bare numbers, or (frames, n) of lists, also nested ones. Raises DatasetError."""
    cells, wide = column, 1
    while is_list(cells.type):
        lengths = pc.list_value_length(cells).to_numpy(zero_copy_only=False).astype(float)
        if len(lengths) and not (lengths == lengths[0]).all():  # nan, of a cell without a list, is no length
            odd = int(np.argmax(lengths != lengths[0]))
            what = f"has {lengths[odd]:.0f} numbers, the first row {lengths[0]:.0f}"
            what = "is empty" if np.isnan(lengths[odd]) else what
            raise DatasetError(f"{path} row {odd // max(wide, 1)}: {name} {what}; repair it, or {_AGAIN}")
        wide *= int(lengths[0]) if len(lengths) else 1
        cells = cells.flatten()
    kind = cells.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise DatasetError(f"{path}: {name} is stored as {column.type}, needed numbers; {_AGAIN}")
    if pa.types.is_boolean(kind) and cells.null_count:
        raise DatasetError(f"{path}: {name} has empty cells; repair it, or {_AGAIN}")
    values = np.asarray(cells.to_numpy(zero_copy_only=False))
    return values.reshape(len(column), wide) if is_list(column.type) else values


def _whole(root: Path, name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers (frames,), also where an empty cell or another tool made them floating point numbers."""
    if values.dtype.kind != "f":
        return values
    odd = ~(np.isfinite(values) & (values == np.round(values)))
    if odd.any():
        raise DatasetError(
            f"{root / 'data'}: {name} of row {int(np.argmax(odd))} is empty or no whole number; repair it, or {_AGAIN}"
        )
    return values.astype(np.int64)
