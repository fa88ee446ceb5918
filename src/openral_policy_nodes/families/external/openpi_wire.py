"""Values as bytes in openpi's dialect: msgpack, with an array as a map of the byte keys below.

`{b"__ndarray__": true, b"data": bytes in C order, b"dtype": "<f4", b"shape": [2, 7]}`; a NumPy scalar is
`{b"__npgeneric__": true, b"data": number, b"dtype": "<f4"}`. So writes and reads `openpi_client.msgpack_numpy` 0.1.2.

Nothing that is read here runs code, and an array must be exactly as large as its bytes.
"""

from __future__ import annotations

import math
from typing import Any

import msgpack
import numpy as np

from openral_sidecar.errors import WireError
from openral_sidecar.wires.openral import DTYPES, MAX_BYTES, MAX_ITEMS, MAX_NDIM

ARRAY, SCALAR = b"__ndarray__", b"__npgeneric__"


def pack(value: Any) -> bytes:
    """Write None, bool, int, float, str, bytes, list, dict, and arrays of bool, ints or floats.

    Raises:
        WireError: something else is in it.
    """
    try:
        packed: bytes = msgpack.packb(value, default=_marked)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent to a policy server: {error}") from error
    return packed


def unpack(frame: bytes) -> Any:
    """Read a message; arrays come back writable.

    Raises:
        WireError: these bytes are no message, or one that holds more than numbers, texts and their containers.
    """
    try:
        return msgpack.unpackb(
            frame,
            object_hook=_unmarked,
            ext_hook=_no_extension,
            strict_map_key=False,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
            max_bin_len=MAX_BYTES,
        )
    except (ValueError, TypeError, KeyError, msgpack.UnpackException) as error:
        raise WireError(f"not a message ({type(error).__name__}: {str(error)[:80]})") from error


def _marked(value: Any) -> Any:
    """Turn what msgpack does not know into what it does."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        _check(array.dtype.str)
        return {ARRAY: True, b"data": array.tobytes(), b"dtype": array.dtype.str, b"shape": list(value.shape)}
    if isinstance(value, np.generic):
        return {SCALAR: True, b"data": value.item(), b"dtype": value.dtype.str}
    raise TypeError(f"{type(value).__name__} has no form on the wire")


def _unmarked(values: dict[Any, Any]) -> Any:
    """Turn marked maps back into what they stand for; every other map stays."""
    if ARRAY in values:
        data, shape, dtype = values[b"data"], values[b"shape"], _check(values[b"dtype"])
        if not isinstance(data, bytes) or not isinstance(shape, list) or len(shape) > MAX_NDIM:
            raise ValueError("malformed array")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError("malformed array: shape")
        if math.prod(shape) * dtype.itemsize != len(data):
            raise ValueError("malformed array: its shape and its data differ")
        return np.frombuffer(bytearray(data), dtype).reshape(shape)
    if SCALAR in values:
        return _check(values[b"dtype"]).type(values[b"data"])
    return values


def _check(name: Any) -> np.dtype[Any]:
    """Return the dtype of one of the names that are known."""
    text = name.decode("ascii", "replace") if isinstance(name, bytes) else name
    if not isinstance(text, str) or text not in DTYPES:
        raise ValueError(f"array of {text!r}; only bool, integers and floats to 64 bits")
    return np.dtype(text)


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
