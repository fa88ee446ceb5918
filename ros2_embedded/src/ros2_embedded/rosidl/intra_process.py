"""Passes the large arrays of a message to subscriptions of the same process without copying them.

Only immutable data is shared: `bytes`, and numpy arrays that are not writable and have memory of their own,
or that of `bytes`. Other arrays are copied when they are published, since the publisher may overwrite its
buffer at once; so are read-only views of such a buffer, as drivers of cameras give them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ros2_embedded.rosidl.cdr_support import DTYPES
from ros2_embedded.rosidl.classes import serialize
from ros2_embedded.rosidl.definition import NUMERIC
from ros2_embedded.rosidl.message import Message

LEAST_BYTES = 4096  # copying less is as fast as sharing

Shared = dict[str, "np.ndarray[Any, Any]"]


_known: dict[str, tuple[tuple[str, str], ...]] = {}


def _sequences(message: Message) -> tuple[tuple[str, str], ...]:
    """Return name and element type of the unbounded numeric sequences of a message, nested ones left out."""
    found = _known.get(message._TYPE_NAME)
    if found is None:
        fields = zip(message._fields_and_field_types, message._FIELD_TYPES, strict=True)
        found = _known[message._TYPE_NAME] = tuple(
            (name, kind.base)
            for name, kind in fields
            if kind.kind == "sequence" and not kind.size and kind.base in NUMERIC
        )
    return found


def _is_constant(value: Any) -> bool:
    """Return whether nobody can change the memory of an array."""
    while isinstance(value, np.ndarray):
        if value.flags.writeable:
            return False
        value = value.base
    return value is None or isinstance(value.obj if isinstance(value, memoryview) else value, bytes)


def shareable(message: Message) -> Shared:
    """Return the large read-only sequences of a message by field, as flat numpy arrays on the same memory."""
    found: Shared = {}
    for name, base in _sequences(message):
        value = getattr(message, name)
        if isinstance(value, bytes) and NUMERIC[base][0] == 1:
            value = np.frombuffer(value, DTYPES[base])
        if (
            isinstance(value, np.ndarray)
            and value.nbytes >= LEAST_BYTES
            and value.dtype == DTYPES[base]
            and value.flags.c_contiguous
            and _is_constant(value)
        ):
            found[name] = value.reshape(-1)
    return found


def serialize_without(message: Message, shared: Shared) -> bytearray:
    """Return the CDR form of a message with the shared fields empty.

    Raises:
        SerializationError: another field holds a value its type does not allow.
    """
    rest: Message = object.__new__(type(message))
    for name in message._fields_and_field_types:
        setattr(rest, f"_{name}", () if name in shared else getattr(message, name))
    return serialize(rest)


def restore(message: Message, shared: Shared) -> None:
    """Assign the shared fields to a message that was deserialised without them."""
    for name, value in shared.items():
        setattr(message, name, value)
