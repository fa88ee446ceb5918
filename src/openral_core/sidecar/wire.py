"""Values as bytes, for sidecars of our own: one msgpack map that carries array data raw.

An array is the map `{"__array__": [dtype, shape, data]}` with numpy's name of a little-endian dtype ("<f4"), a list of
sizes, and C-ordered bytes. Against `.npy` inside msgpack this saves two copies and the parsing of a header, which is
more than half of a round trip (tests/perf/test_sidecar_speed.py).

Nothing that is read here runs code, and a message cannot make the reader allocate more than its own size allows.
"""

from __future__ import annotations

import math
from typing import Any

import msgpack
import numpy as np

from openral_core.sidecar.errors import WireError

MAX_BYTES = 16 * 1024 * 1024
"""The largest message, either way. Two cameras of 1920×1080 in RGB are 12 MB."""
MAX_ITEMS = 16_384
"""The most items of one list or map; long rows of numbers are arrays."""
MAX_NDIM = 8

ARRAY = "__array__"
DTYPES = frozenset(
    ["|b1", "|i1", "|u1"] + [f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)] + ["<f2", "<f4", "<f8"]
)


def pack(value: Any) -> bytes:
    """Write None, bool, int, float, str, bytes, list, dict with text keys, and arrays of bool, ints or floats.

    Raises:
        WireError: something else is in it, or it is larger than MAX_BYTES.
    """
    try:
        packed: bytes = msgpack.packb(value, default=_plain)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent to a sidecar: {error}") from error
    if len(packed) > MAX_BYTES:
        size = len(packed) / 2**20
        raise WireError(
            f"a message of {size:.1f} MiB; at most {MAX_BYTES >> 20} MiB can be sent: send fewer images"
        )
    return packed


def unpack(frame: bytes) -> Any:
    """Read what `pack` wrote; arrays come back C-ordered and writable.

    Raises:
        WireError: these bytes are no message.
    """
    if len(frame) > MAX_BYTES:
        raise WireError(f"a message of {len(frame)} bytes; at most {MAX_BYTES} are read")
    try:
        return msgpack.unpackb(
            frame, object_hook=_array, ext_hook=_no_extension, max_array_len=MAX_ITEMS, max_map_len=MAX_ITEMS
        )
    except (ValueError, msgpack.UnpackException) as error:
        raise WireError(f"not a message ({type(error).__name__}: {str(error)[:80]})") from error


def _plain(value: Any) -> Any:
    """Turn what msgpack does not know into what it does."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        if array.dtype.str not in DTYPES:
            raise TypeError(f"array of {value.dtype}; only bool, integers and floats to 64 bits")
        if array.ndim > MAX_NDIM:
            raise TypeError(f"array of {array.ndim} dimensions; at most {MAX_NDIM}")
        return {ARRAY: [array.dtype.str, list(value.shape), array.reshape(-1).view(np.uint8).data]}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no form on the wire")


def _array(values: dict[str, Any]) -> Any:
    """Turn the map of an array back into the array; every other map stays."""
    if ARRAY not in values:
        return values
    fields = values[ARRAY]
    if not (len(values) == 1 and isinstance(fields, list) and len(fields) == 3):
        raise ValueError("malformed array")
    dtype, shape, data = fields
    if not (isinstance(dtype, str) and dtype in DTYPES and isinstance(data, bytes)):
        raise ValueError("malformed array: dtype or data")
    if not (
        isinstance(shape, list) and len(shape) <= MAX_NDIM and all(type(n) is int and n >= 0 for n in shape)
    ):
        raise ValueError("malformed array: shape")
    if math.prod(shape) * int(dtype[2]) != len(data):
        raise ValueError("malformed array: shape and data differ")
    return np.ndarray(shape, dtype, bytearray(data))


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
