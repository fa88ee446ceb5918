"""Reads .npy files of Python objects without executing code from them.

Such a file is a pickle, which may call any function. This reader allows dictionaries, lists, strings, numbers and NumPy
arrays of numbers, and refuses everything else: what NumPy's pickles call is replaced by classes and functions that
check their arguments, and no other name is resolved. Arrays and dtypes are made afterwards, of checked descriptions,
since NumPy's own take any state: a forged one lets an array read memory that is not its own.
"""

from __future__ import annotations

import math
import pickle
import re
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError

_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
_PLAIN = (str, bytes, bool, int, float, type(None))
_KINDS = "biufSU"
"""Kinds of the dtypes of arrays: numbers and strings."""
_NAME = re.compile(rf"O8?|[{_KINDS}][0-9]{{1,6}}")
"""Names of dtypes in pickles: objects, numbers and strings."""
DEPTH = 8
"""Most containers in each other."""


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
            found = _made(path, _ArrayUnpickler(file).load())
    except (
        OSError,
        ValueError,
        EOFError,
        pickle.UnpicklingError,
        AttributeError,
        LookupError,
        TypeError,
        ArithmeticError,
        MemoryError,
        RecursionError,
        struct.error,
    ) as error:
        raise ManifestError(f"{path}: not an array of plain objects ({error})") from error
    if not isinstance(found, np.ndarray) or found.shape != shape:
        raise ManifestError(f"{path}: holds a {type(found).__name__}, needed an array {shape}")
    return found


class _ArrayUnpickler(pickle.Unpickler):
    """An unpickler that resolves no names but those in pickles of NumPy arrays."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="ASCII")

    def find_class(self, module: str, name: str) -> Any:
        if module in _NUMPY and name in ("_reconstruct", "scalar"):
            return {"_reconstruct": _empty_array, "scalar": _scalar}[name]
        if module == "numpy" and name in ("ndarray", "dtype"):
            return {"ndarray": _Array, "dtype": _Kind}[name]
        if module == "_codecs" and name == "encode":
            return _as_bytes
        raise pickle.UnpicklingError(
            f"it asks for {module}.{name}, and only arrays, texts and numbers are admitted"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to objects outside of itself")


class _Kind:
    """A dtype, as its pickle describes it."""

    def __init__(self, name: str, align: bool = False, copy: bool = False) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise pickle.UnpicklingError(
                f"it holds {name!s:.20}; only arrays, dictionaries, texts and numbers are read"
            )
        self._dtype = np.dtype(name)

    def __setstate__(self, state: Any) -> None:
        """Take the byte order; the rest is in the name."""
        order = state[1]
        if order not in ("<", ">", "|", "=") or any(part is not None for part in state[2:5]):
            raise pickle.UnpicklingError("numbers of an unusual kind")
        if self._dtype.kind != "O":
            self._dtype = self._dtype.newbyteorder(order)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype that it describes."""
        return self._dtype


class _Array:
    """An array, as its pickle describes it."""

    def __init__(self) -> None:
        self._state: Any = None

    def __setstate__(self, state: Any) -> None:
        """Take the version, shape, dtype, order and content."""
        self._state = state

    def made(self, path: Path, depth: int) -> NDArray[Any]:
        """Return the array; see `_made`."""
        _, shape, kind, is_fortran, content = self._state
        if not isinstance(kind, _Kind) or any(type(side) is not int or side < 0 for side in shape):
            raise pickle.UnpicklingError("an array of an unusual kind")
        order: Any = "F" if is_fortran else "C"
        if kind.dtype.kind != "O":
            if 0 in shape:
                return np.empty(shape, kind.dtype)
            return np.frombuffer(content, kind.dtype, math.prod(shape)).reshape(shape, order=order).copy()
        if not isinstance(content, list) or len(content) != math.prod(shape):
            raise pickle.UnpicklingError("an array of more or fewer objects than it has places")
        flat = np.empty(len(content), object)
        for place, item in enumerate(content):
            flat[place] = _made(path, item, depth + 1)
        return flat.reshape(shape, order=order)


def _empty_array(kind: type, shape: tuple[int, ...], code: bytes) -> _Array:
    """Return an empty array, which the pickle fills afterwards."""
    if kind is not _Array or shape != (0,):
        raise pickle.UnpicklingError("an array of an unusual kind")
    return _Array()


def _scalar(kind: Any, content: bytes) -> Any:
    """Return a NumPy number."""
    if not isinstance(kind, _Kind) or kind.dtype.kind == "O" or not isinstance(content, bytes):
        raise pickle.UnpicklingError("a number of an unusual kind")
    return np.frombuffer(content, kind.dtype, 1)[0]


def _as_bytes(text: str, encoding: str) -> bytes:
    """Return the bytes that pickles of older protocols store as a string."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("bytes in an unusual encoding")
    return text.encode("latin1")


def _made(path: Path, item: Any, depth: int = 0) -> Any:
    """Return what an object describes: a number, a string, an array, or a container of them.

    Raises:
        ManifestError: it is something else, or too deep.
    """
    if depth <= DEPTH:
        if isinstance(item, _Array):
            return item.made(path, depth)
        if isinstance(item, dict):
            return {_made(path, key, depth + 1): _made(path, inner, depth + 1) for key, inner in item.items()}
        if isinstance(item, (list, tuple)):
            return [_made(path, inner, depth + 1) for inner in item]
        if type(item) in _PLAIN or (isinstance(item, np.generic) and item.dtype.kind in _KINDS):
            return item
    raise ManifestError(
        f"{path}: holds a {type(item).__name__}; only arrays, dictionaries, texts and numbers are read"
    )
