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
    """Return the little endian bytes of a numeric sequence, without a copy if they are stored in that form.

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
        return _converted(value, base).data.cast("B")
    if size == 1 and isinstance(value, (bytes, bytearray, memoryview)):
        return memoryview(value).cast("B")
    try:
        return memoryview(array(code, value)).cast("B")
    except (TypeError, OverflowError) as error:
        raise SerializationError(f"{error}, in a sequence of {base}") from error


def _converted(value: np.ndarray[Any, Any], base: str) -> np.ndarray[Any, Any]:
    """Return a numpy array in one dimension and with the elements of a type, without a copy if it has them.

    Raises:
        SerializationError: an element is no value of an integer type.
    """
    if value.dtype == DTYPES[base]:
        return np.ascontiguousarray(value).reshape(-1)
    given = value.reshape(-1)
    with np.errstate(invalid="ignore"):  # NaN, which is compared below
        flat = given.astype(DTYPES[base])
    if flat.dtype.kind in "iu":
        differs = np.asarray(flat != given)
        if differs.any():
            raise SerializationError(f"{given[int(differs.argmax())]} is no {base}, in a sequence of {base}")
    return flat


def raw_fixed_array(value: Any, base: str, length: int) -> memoryview | bytes:
    """Return the bytes of an array of fixed length, as `raw_array` does.

    Raises:
        SerializationError: the array has another length, or an element does not fit the type.
    """
    raw = raw_array(value, base)
    if len(raw) != length * NUMERIC[base][0]:
        raise SerializationError(f"an array of {length} {base} has {len(raw) // NUMERIC[base][0]} elements")
    return raw


def check_length(value: Any, size: int, fixed: bool) -> Any:
    """Return a sequence, or an array (`fixed`), if its length fits `size`.

    Raises:
        SerializationError: the sequence is longer than its bound, or the array has another length.
    """
    if (fixed and len(value) != size) or len(value) > size:
        raise SerializationError(
            f"{len(value)} elements where {'' if fixed else 'at most '}{size} are allowed"
        )
    return value


def join_bytes(values: Any) -> bytes:
    """Return the elements of a sequence of `byte`, which are bytes of length 1, in one.

    Raises:
        SerializationError: an element has another length.
    """
    joined = b"".join(values)
    if len(joined) != len(values):
        raise SerializationError("an element of a sequence of byte has not the length 1")
    return joined


def check_count(count: int, bound: int) -> None:
    """Check the number of elements of a bounded sequence.

    Raises:
        SerializationError: there are more than the bound allows.
    """
    if count > bound:
        raise SerializationError(f"{count} elements where at most {bound} are allowed")


def read_text(data: memoryview, start: int, length: int) -> str:
    """Return a CDR string of `length` bytes, its terminator included.

    Raises:
        SerializationError: the message ends before the string does.
    """
    if length < 1 or start + length > len(data):
        raise SerializationError(f"string of {length} bytes at offset {start} ends behind the message")
    return str(data[start : start + length - 1], "utf-8", "replace")


def wide_text(value: str) -> bytes:
    """Return the UTF-16 units of a wide string, four bytes each, as rosidl_typesupport_fastrtps writes them.

    Raises:
        AttributeError: the value is not a text.
    """
    return np.frombuffer(value.encode("utf-16-le"), "<u2").astype("<u4").tobytes()


def read_wide_text(data: memoryview, start: int, count: int) -> str:
    """Return a wide string of `count` UTF-16 units.

    Raises:
        SerializationError: the message ends before the string does, or a unit has more than 16 bits.
    """
    units = np.frombuffer(read_bytes(data, start, 4 * count), "<u4")
    if count and int(units.max()) > 0xFFFF:
        raise SerializationError(f"wide string at offset {start} holds a unit of more than 16 bits")
    return units.astype("<u2").tobytes().decode("utf-16-le", "replace")


def read_bytes(data: memoryview, start: int, length: int) -> memoryview:
    """Return a slice of `length` bytes of the message.

    Raises:
        SerializationError: the message ends before the slice does.
    """
    if start + length > len(data):
        raise SerializationError(f"sequence of {length} bytes at offset {start} ends behind the message")
    return data[start : start + length]


def read_array(code: str, data: memoryview, start: int, length: int) -> array[Any]:
    """Return a numeric sequence as `array.array`: one copy of `length` bytes."""
    result: array[Any] = array(code)
    result.frombytes(read_bytes(data, start, length))
    return result
