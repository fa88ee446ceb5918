"""Reads .npy files of Python objects without executing code from them.

Such a file is a pickle, which may call any function. This reader allows dictionaries, lists, strings, numbers and NumPy
arrays of numbers, and refuses everything else: the three functions that NumPy's pickles call are replaced by functions
that check their arguments, and no other name is resolved.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError

_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
_PLAIN = (str, bytes, bool, int, float, type(None))
_KINDS = "biufSU"
"""Kinds of the dtypes of arrays: numbers and strings."""


def read_object_array(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file, of numbers or of plain objects.

    Raises:
        ManifestError: the file has another format, or an object that is neither number, string nor container.
    """
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(file)
            if not dtype.hasobject:
                file.seek(0)
                plain: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
                return plain
            found = _ArrayUnpickler(file).load()
    except (
        OSError,
        ValueError,
        EOFError,
        pickle.UnpicklingError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
    ) as error:
        raise ManifestError(f"{path}: not an array of plain objects ({error})") from error
    if not isinstance(found, np.ndarray) or found.shape != shape:
        raise ManifestError(f"{path}: holds a {type(found).__name__}, needed an array {shape}")
    for item in found.flat:
        _check(path, item)
    return found


class _ArrayUnpickler(pickle.Unpickler):
    """An unpickler that resolves no names but those in pickles of NumPy arrays."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="ASCII")

    def find_class(self, module: str, name: str) -> Any:
        if module in _NUMPY and name in ("_reconstruct", "scalar"):
            return {"_reconstruct": _empty_array, "scalar": _scalar}[name]
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if module == "_codecs" and name == "encode":
            return _as_bytes
        raise pickle.UnpicklingError(
            f"it asks for {module}.{name}, and only arrays, texts and numbers are admitted"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to objects outside of itself")


def _empty_array(kind: type, shape: tuple[int, ...], code: bytes) -> NDArray[Any]:
    """Return an empty array, which the pickle fills afterwards."""
    if kind is not np.ndarray or shape != (0,):
        raise pickle.UnpicklingError("an array of an unusual kind")
    return np.ndarray((0,), np.int8)


def _scalar(dtype: Any, content: bytes) -> Any:
    """Return a NumPy number."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in _KINDS or not isinstance(content, bytes):
        raise pickle.UnpicklingError("a number of an unusual kind")
    return np.frombuffer(content, dtype, 1)[0]


def _as_bytes(text: str, encoding: str) -> bytes:
    """Return the bytes that pickles of older protocols store as a string."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("bytes in an unusual encoding")
    return text.encode("latin1")


def _check(path: Path, item: Any, depth: int = 0) -> None:
    """Raise ManifestError for an object that is neither a number, a string nor a container of them."""
    if isinstance(item, np.ndarray) and item.dtype.kind == "O" and depth < 8:
        for inner in item.flat:
            _check(path, inner, depth + 1)
    elif isinstance(item, dict) and depth < 8:
        for key, inner in item.items():
            _check(path, key, depth + 1)
            _check(path, inner, depth + 1)
    elif isinstance(item, (list, tuple)) and depth < 8:
        for inner in item:
            _check(path, inner, depth + 1)
    elif not (
        type(item) in _PLAIN or (isinstance(item, (np.ndarray, np.generic)) and item.dtype.kind in _KINDS)
    ):
        raise ManifestError(
            f"{path}: holds a {type(item).__name__}; only arrays, dictionaries, texts and numbers are read"
        )
