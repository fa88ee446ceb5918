"""Whether a value fits the type of a field, of values in messages and of literals in interface files."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any

from ros2_embedded.rosidl.definition import NUMERIC, FieldType

_RANGES = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


def _or_numpy(plain: type, name: str) -> tuple[Any, ...]:
    """Return a type, and the one of numpy beside it.

    numpy is not imported for it: without it no value is of its types, and interface files are also read where
    it is not installed, as when this package is built.
    """
    return plain, getattr(sys.modules.get("numpy"), name, plain)


def check_value(kind: FieldType, value: Any, class_of: Callable[[str], type]) -> str | None:
    """Return why a value does not fit a field type, or None when it does."""
    if kind.kind != "single":
        return _check_collection(kind, value, class_of)
    if kind.base in ("string", "wstring"):
        if not isinstance(value, str):
            return "must be of type 'str'"
        if kind.string_bound and len(value) > kind.string_bound:
            return f"must be a string of at most {kind.string_bound} characters"
        return None
    if kind.base == "bool":
        return None if isinstance(value, _or_numpy(bool, "bool_")) else "must be of type 'bool'"
    if kind.base == "byte":
        return None if isinstance(value, bytes) and len(value) == 1 else "must be bytes of length 1"
    if kind.base in _RANGES:
        if not isinstance(value, _or_numpy(int, "integer")) or isinstance(value, bool):
            return "must be of type 'int'"
        low, high = _RANGES[kind.base]
        return None if low <= value <= high else f"must be an integer in [{low}, {high}]"
    if kind.base in NUMERIC:
        fits = isinstance(value, _or_numpy(float, "floating"))
        return None if fits else "must be of type 'float'"
    wanted = class_of(kind.base)
    return None if isinstance(value, wanted) else f"must be a {kind.base.replace('/', '.')}"


def _check_collection(kind: FieldType, value: Any, class_of: Callable[[str], type]) -> str | None:
    """Return why a value does not fit an array or a sequence, or None."""
    if isinstance(value, (str, dict)) or not hasattr(value, "__len__"):
        return "must be a sequence"
    if kind.kind == "array" and len(value) != kind.size:
        return f"must have exactly {kind.size} elements"
    if kind.size and len(value) > kind.size:
        return f"must have at most {kind.size} elements"
    if kind.base in NUMERIC and isinstance(
        value, (*_or_numpy(array, "ndarray"), bytes, bytearray, memoryview)
    ):
        return None
    element = FieldType(kind.base, string_bound=kind.string_bound)
    for index, item in enumerate(value):
        reason = check_value(element, item, class_of)
        if reason:
            return f"element {index} {reason}"
    return None
