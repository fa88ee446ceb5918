"""What becomes of a value that is assigned to a field of many numbers."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from ros2_embedded.rosidl.cdr_support import DTYPES
from ros2_embedded.rosidl.definition import NUMERIC, Field, FieldType

_BUFFERS = (bytes, bytearray, memoryview)


def storage_of(kind: FieldType) -> Callable[[Any], Any]:
    """The function from an assigned value to the stored one, for a sequence or an array of numbers.

    numpy arrays, `array.array` of the right type code and, for `uint8`, bytes-like objects come back as they
    are. A sequence makes `array.array(code, value)` of everything else, a fixed array `numpy.array`; as in
    rclpy, bytes for a wider type are its memory, and a value that does not fit raises at once.
    """
    code = NUMERIC[kind.base][1]
    dtype = DTYPES[kind.base]
    kept = _BUFFERS if kind.base == "uint8" else ()

    def store_sequence(value: Any) -> Any:
        if isinstance(value, array):
            return value if value.typecode == code else array(code, value)
        if isinstance(value, (np.ndarray, *kept)):
            return value
        return array(code, value)

    def store_array(value: Any) -> Any:
        if isinstance(value, (np.ndarray, *kept)):
            return value
        if isinstance(value, _BUFFERS):
            return np.frombuffer(value, dtype)
        return np.array(value, dtype)

    return store_array if kind.kind == "array" else store_sequence


def converting_field(field: Field, slot: Any) -> property:
    """The attribute of such a field: reads the slot, and converts what is assigned.

    Args:
        field: the field.
        slot: the descriptor of the slot `_<name>`.
    """
    write = slot.__set__
    store = storage_of(field.type)
    code = NUMERIC[field.type.base][1]
    ready = bytes if field.type.base == "uint8" else np.ndarray

    def assign(message: Any, value: Any) -> None:
        kind = type(value)
        if kind is ready or kind is np.ndarray or (kind is array and value.typecode == code):
            write(message, value)
        else:
            write(message, store(value))

    return property(attrgetter(f"_{field.name}"), assign, doc=f"Message field '{field.name}'.")
