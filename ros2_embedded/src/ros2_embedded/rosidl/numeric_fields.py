"""Conversion of values that are assigned to fields of numeric arrays and sequences."""

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
    """Return the function from an assigned value to the stored one, for a sequence or an array of numbers.

    numpy arrays, `array.array` of the right type code and, for `uint8`, bytes-like objects are stored as they
    are. Other values are converted to `array.array(code, value)` for a sequence, and to `numpy.array` for a
    fixed array. As in rclpy, bytes are taken as the memory of a wider type, and a value that does not fit
    raises at once.
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
        made = np.array(value, dtype)
        if dtype.kind in "iu" and any(isinstance(item, (float, np.floating)) for item in value):
            raise TypeError(f"{value!r:.80} holds numbers that are no integers")
        return made

    return store_array if kind.kind == "array" else store_sequence


def converting_field(field: Field, slot: Any) -> property:
    """Return a property that reads the slot of such a field, and converts assigned values.

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
