"""The base class of all message classes, with optional checks on assignment."""

from __future__ import annotations

import os
from array import array
from typing import Any, ClassVar

import numpy as np

from ros2_embedded.rosidl.definition import NUMERIC, FieldType
from ros2_embedded.rosidl.field_checks import check_value


class _SlotTypes:
    """Class attribute `SLOT_TYPES`: the types of the fields as `rosidl_parser.definition` spells them."""

    def __get__(self, instance: object, owner: type[Message]) -> tuple[Any, ...]:
        """Return the types, which are made at first access and then stored in the class."""
        from ros2_embedded.rosidl.slot_types import slot_type

        found = tuple(slot_type(kind) for kind in owner._FIELD_TYPES)
        owner.SLOT_TYPES = found  # type: ignore[assignment]
        return found


class Message:
    """A message, with an attribute for each field.

    As in rclpy, sequences of numbers are `array.array`, and fixed arrays of numbers are numpy arrays; other
    iterables are converted when they are assigned. numpy arrays, and bytes-like objects for `uint8` elements,
    are stored as they are, so that images are not copied. A value that does not fit raises when the message
    is serialised or, while checks are on, at the assignment.

    A field `data` is stored in the slot `_data`, which may be read and written without conversion.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()
    _TYPE_NAME: ClassVar[str]
    _fields_and_field_types: ClassVar[dict[str, str]]
    _FIELD_TYPES: ClassVar[tuple[FieldType, ...]]
    SLOT_TYPES = _SlotTypes()

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return a new dictionary of the field names and their IDL types."""
        return dict(cls._fields_and_field_types)

    def __repr__(self) -> str:
        """Return the text of rclpy: `pkg.msg.Name(field=value, ...)`."""
        types = zip(self._fields_and_field_types, self._FIELD_TYPES, strict=True)
        fields = ", ".join(f"{name}={_plain(kind, getattr(self, name))!r}" for name, kind in types)
        return f"{self._TYPE_NAME.replace('/', '.')}({fields})"

    def __eq__(self, other: object) -> bool:
        """Return whether type and fields are equal; numeric sequences may be stored differently."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(_equal(getattr(self, name), getattr(other, name)) for name in self._fields_and_field_types)

    __hash__ = None  # type: ignore[assignment]


def _plain(kind: FieldType, value: Any) -> Any:
    """Return the value to print: a list for a sequence of numbers, the numpy array itself for a fixed one."""
    if kind.kind == "sequence" and isinstance(value, (array, np.ndarray)):
        return value.tolist()
    if kind.kind == "sequence" and kind.base in NUMERIC and isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    return value


def _equal(left: Any, right: Any) -> bool:
    """Return whether two field values are equal, even if they are stored differently."""
    if left is right:
        return True
    arrays = (np.ndarray, array, bytes, bytearray, memoryview)
    if isinstance(left, arrays) or isinstance(right, arrays):
        if isinstance(left, bytes) and isinstance(right, bytes):
            return left == right
        return np.array_equal(_as_array(left), _as_array(right))
    return bool(left == right)


def _as_array(value: Any) -> np.ndarray[Any, Any]:
    """Return numbers in any storage as a numpy array."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, np.uint8)
    return np.asarray(value).reshape(-1)


def explain(message: Message) -> str | None:
    """Return the first field, by path, whose value does not fit its type, and why; None when all fit."""
    from ros2_embedded.rosidl.classes import class_of

    for name, kind in zip(message._fields_and_field_types, message._FIELD_TYPES, strict=True):
        value = getattr(message, name)
        reason = check_value(kind, value, class_of)
        if reason:
            return f"field {name!r} {reason}, not {value!r:.80}"
        nested = [value] if isinstance(value, Message) else value if isinstance(value, list) else []
        for item in nested:
            inner = explain(item) if isinstance(item, Message) else None
            if inner:
                return f"in {name!r}: {inner}"
    return None


def require_fit(message: Message, *values: Any) -> None:
    """Check the values of all fields, None for a default, for a constructor with `check_fields`.

    Raises:
        AssertionError: a value does not fit; the text names the field.
    """
    from ros2_embedded.rosidl.classes import class_of

    fields = zip(message._fields_and_field_types, message._FIELD_TYPES, values, strict=True)
    for name, kind, value in fields:
        reason = None if value is None else check_value(kind, value, class_of)
        if reason:
            raise AssertionError(f"The {name!r} field {reason}, not {value!r:.80}")


def _checked_setattr(self: Message, name: str, value: Any) -> None:
    """Assign a field with checks; installed as `__setattr__` by `set_checks`."""
    from ros2_embedded.rosidl.classes import class_of

    if name in self._fields_and_field_types:
        index = list(self._fields_and_field_types).index(name)
        reason = check_value(self._FIELD_TYPES[index], value, class_of)
        if reason:
            raise AssertionError(f"The {name!r} field {reason}, not {value!r:.80}")
    object.__setattr__(self, name, value)


def set_checks(enabled: bool) -> None:
    """Install or remove the checks on assignment, for all message classes of this process."""
    if enabled:
        Message.__setattr__ = _checked_setattr  # type: ignore[method-assign, assignment]
    elif "__setattr__" in Message.__dict__:
        del Message.__setattr__


if os.environ.get("ROS_PYTHON_CHECK_FIELDS", "") == "1":  # the switch of rosidl_generator_py
    set_checks(True)
