"""Encoding of the `openral` dialect: one msgpack message `[data, value]`, with arrays as raw bytes.

`value` is the encoded value, with `{"__array__": [dtype, shape]}` in place of each array: numpy's name of a
little-endian dtype ("<f4") and a list of sizes. `data` has the bytes of these arrays in C order and in the order of
their appearance, always with the header `bin 32` of msgpack. So an image is copied once on each side, whereas `.npy`
files inside msgpack need five copies, which take half of a round trip (tests/perf/sidecar/test_sidecar_speed.py).

Decoding runs no code from a message, and allocates no more memory for arrays than the message's size.
"""

from __future__ import annotations

import math
from typing import Any

import msgpack
import numpy as np

from openral_sidecar.errors import WireError

MAX_BYTES = 16 * 1024 * 1024
"""[bytes] size of the largest message in either direction; images of two cameras (1920×1080, RGB) are 12 MB."""
MAX_ITEMS = 16_384
"""Largest number of items of one list or map; longer sequences of numbers are sent as arrays."""
MAX_NDIM = 8

ARRAY = "__array__"
DTYPES = frozenset(
    ["|b1", "|i1", "|u1"] + [f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)] + ["<f2", "<f4", "<f8"]
)
_START = b"\x92\xc6"
"""Header of a list of two, and of bytes whose length follows as 32 bits, big-endian (msgpack's specification)."""
_HEAD = len(_START) + 4


def pack(value: Any) -> bytes:
    """Encode None, bool, int, float, str, bytes, list, dict with str keys, and arrays of bool, integers or floats.

    Raises:
        WireError: the value contains another type, or its encoding is larger than MAX_BYTES.
    """
    writer = _Writer()
    try:
        packed = msgpack.packb(value, default=writer.plain)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent to a sidecar: {error}") from error
    length = sum(len(data) for data in writer.data)
    if _HEAD + length + len(packed) > MAX_BYTES:
        size = (length + len(packed)) / 2**20
        raise WireError(
            f"a message of {size:.1f} MiB; at most {MAX_BYTES >> 20} MiB can be sent: send fewer images"
        )
    return b"".join([_START, length.to_bytes(4, "big"), *writer.data, packed])


def unpack(frame: bytes | memoryview) -> Any:
    """Decode a message of `pack`; arrays are C-ordered and writable.

    Raises:
        WireError: the bytes are not a message.
    """
    if len(frame) > MAX_BYTES:
        raise WireError(f"a message of {len(frame)} bytes; at most {MAX_BYTES} are read")
    view = memoryview(frame)
    end = _HEAD + int.from_bytes(view[len(_START) : _HEAD], "big")
    if view[: len(_START)] != _START or not _HEAD <= end <= len(view):
        raise WireError("not a message: no list of data and value")
    reader = _ArrayReader(view[:end])
    try:
        value = msgpack.unpackb(
            view[end:],
            object_hook=reader.arrays,
            ext_hook=_no_extension,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
        )
        reader.check_end()
    except (ValueError, msgpack.UnpackException) as error:
        raise WireError(f"not a message ({type(error).__name__}: {str(error)[:80]})") from error
    return value


class _Writer:
    """Collects the arrays of a value."""

    def __init__(self) -> None:
        self.data: list[memoryview] = []

    def plain(self, value: Any) -> Any:
        """Return the plain form of a value of a type that msgpack does not support."""
        if isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
            if array.dtype.str not in DTYPES:
                raise TypeError(f"array of {value.dtype}; only bool, integers and floats to 64 bits")
            if array.ndim > MAX_NDIM:
                raise TypeError(f"array of {array.ndim} dimensions; at most {MAX_NDIM}")
            self.data.append(array.reshape(-1).view(np.uint8).data)
            return {ARRAY: [array.dtype.str, list(value.shape)]}
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"{type(value).__name__} has no form on the wire")


class _ArrayReader:
    """Restores the arrays of a value from consecutive bytes, so that no byte is read twice."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = _HEAD

    def arrays(self, values: dict[str, Any]) -> Any:
        """Return the array that a map stands for; any other map is returned as it is."""
        if ARRAY not in values:
            return values
        fields = values[ARRAY]
        if not (len(values) == 1 and isinstance(fields, list) and len(fields) == 2):
            raise ValueError("malformed array")
        dtype, shape = fields
        if not (
            isinstance(dtype, str) and dtype in DTYPES and isinstance(shape, list) and len(shape) <= MAX_NDIM
        ):
            raise ValueError("malformed array: dtype or shape")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError("malformed array: shape")
        begin = self._at
        self._at += math.prod(shape) * int(dtype[2])
        if self._at > len(self._data):
            raise ValueError("malformed array: larger than the message")
        return np.ndarray(shape, dtype, self._data, begin).copy()

    def check_end(self) -> None:
        """Require that all data belongs to arrays.

        Raises:
            ValueError: data is left.
        """
        if self._at != len(self._data):
            raise ValueError("the arrays and their data differ")


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
