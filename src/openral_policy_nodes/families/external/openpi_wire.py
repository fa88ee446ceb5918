"""Encoding of openpi's messages: msgpack, with NumPy arrays and scalars as maps with byte keys.

An array is `{b"__ndarray__": true, b"data": bytes in C order, b"dtype": "<f4", b"shape": [2, 7]}`, and a NumPy scalar
`{b"__npgeneric__": true, b"data": number, b"dtype": "<f4"}`, as in `openpi_client.msgpack_numpy` 0.1.2.

Decoding never executes code, and the shape of an array must fit the number of its bytes.
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
    """Encode None, bool, int, float, str, bytes, list, dict, and arrays of bool, integers or floats.

    Raises:
        WireError: the value holds another type.
    """
    try:
        packed: bytes = msgpack.packb(value, default=_marked)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent to a policy server: {error}") from error
    return packed


def unpack(frame: bytes) -> Any:
    """Decode a message; its arrays are writable.

    Raises:
        WireError: the bytes are not a message, or it holds a type other than those of `pack`.
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
    except (ValueError, TypeError, KeyError, OverflowError, msgpack.UnpackException) as error:
        raise WireError(f"not a message ({type(error).__name__}: {str(error)[:80]})") from error


def _marked(value: Any) -> Any:
    """Return the map that represents a NumPy array or scalar."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        _check(array.dtype.str)
        return {ARRAY: True, b"data": array.tobytes(), b"dtype": array.dtype.str, b"shape": list(value.shape)}
    if isinstance(value, np.generic):
        return {SCALAR: True, b"data": value.item(), b"dtype": value.dtype.str}
    raise TypeError(f"{type(value).__name__} has no form on the wire")


def _unmarked(values: dict[Any, Any]) -> Any:
    """Return the NumPy array or scalar that a map represents; every other map is returned as it is."""
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
    """Return the dtype of this name. Raises ValueError: it is not one of DTYPES."""
    text = name.decode("ascii", "replace") if isinstance(name, bytes) else name
    if not isinstance(text, str) or text not in DTYPES:
        raise ValueError(f"array of {text!r}; only bool, integers and floats to 64 bits")
    return np.dtype(text)


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
