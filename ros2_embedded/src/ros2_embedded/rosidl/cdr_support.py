"""Run-time functions of the generated CDR code: raw bytes of numeric arrays and length checks."""

from __future__ import annotations

import sys
from array import array
from typing import Any

import numpy as np

from ros2_embedded.rosidl.definition import NUMERIC

ENCAPSULATION = b"\x00\x01\x00\x00"  # CDR_LE, no options (DDS-XTypes 1.3, 7.4.3.4)
PADDING = tuple(bytes(count) for count in range(8))
DTYPES = {name: np.dtype("<" + code.lower() if code == "f" else name) for name, (_, code) in NUMERIC.items()}

if sys.byteorder != "little":
    raise ImportError("the embedded ROS 2 serialises little endian only; this machine is big endian")


class SerializationError(ValueError):
    """A message cannot be turned into CDR, or bytes cannot be read as the expected message."""


def raw_array(value: Any, base: str) -> memoryview | bytes:
    """The little endian bytes of a numeric sequence: no copy when the storage already has the right form.

    Args:
        value: `array.array`, numpy array, bytes-like (8-bit types only), or any sequence of numbers.
        base: numeric type name, e.g. `float32`.

    Raises:
        SerializationError: an element does not fit the type.
    """
    size, code = NUMERIC[base]
    if isinstance(value, array) and value.typecode == code:
        return memoryview(value).cast("B")
    if isinstance(value, np.ndarray):
        flat = np.ascontiguousarray(value, DTYPES[base]).reshape(-1)
        return flat.data.cast("B")
    if size == 1 and isinstance(value, (bytes, bytearray, memoryview)):
        return memoryview(value).cast("B")
    try:
        return memoryview(array(code, value)).cast("B")
    except (TypeError, OverflowError) as error:
        raise SerializationError(f"{error}, in a sequence of {base}") from error


def raw_fixed_array(value: Any, base: str, length: int) -> memoryview | bytes:
    """As `raw_array` for an array of fixed length.

    Raises:
        SerializationError: wrong length.
    """
    raw = raw_array(value, base)
    if len(raw) != length * NUMERIC[base][0]:
        raise SerializationError(f"an array of {length} {base} has {len(raw) // NUMERIC[base][0]} elements")
    return raw


def check_length(value: Any, size: int, fixed: bool) -> Any:
    """Return the sequence if its length is right.

    Raises:
        SerializationError: longer than its bound, or not exactly the fixed length.
    """
    if (fixed and len(value) != size) or len(value) > size:
        raise SerializationError(
            f"{len(value)} elements where {'' if fixed else 'at most '}{size} are allowed"
        )
    return value


def read_text(data: memoryview, start: int, length: int) -> str:
    """A CDR string of `length` bytes, its terminator included.

    Raises:
        SerializationError: the message ends before the string does.
    """
    if length < 1 or start + length > len(data):
        raise SerializationError(f"string of {length} bytes at offset {start} ends behind the message")
    return str(data[start : start + length - 1], "utf-8", "replace")


def wide_text(value: str) -> bytes:
    """The units of a wide string: UTF-16, each in four bytes, as rosidl_typesupport_fastrtps writes them.

    Raises:
        AttributeError: not a text.
    """
    return np.frombuffer(value.encode("utf-16-le"), "<u2").astype("<u4").tobytes()


def read_wide_text(data: memoryview, start: int, count: int) -> str:
    """A wide string of `count` UTF-16 units.

    Raises:
        SerializationError: the message ends before the string does, or a unit has more than 16 bits.
    """
    units = np.frombuffer(read_bytes(data, start, 4 * count), "<u4")
    if count and int(units.max()) > 0xFFFF:
        raise SerializationError(f"wide string at offset {start} holds a unit of more than 16 bits")
    return units.astype("<u2").tobytes().decode("utf-16-le", "replace")


def read_bytes(data: memoryview, start: int, length: int) -> memoryview:
    """A slice that must lie inside the message.

    Raises:
        SerializationError: the message ends before it.
    """
    if start + length > len(data):
        raise SerializationError(f"sequence of {length} bytes at offset {start} ends behind the message")
    return data[start : start + length]


def read_array(code: str, data: memoryview, start: int, length: int) -> array[Any]:
    """A numeric sequence as `array.array`: one copy of `length` bytes."""
    result: array[Any] = array(code)
    result.frombytes(read_bytes(data, start, length))
    return result
