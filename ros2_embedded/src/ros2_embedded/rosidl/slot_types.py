"""Field types as objects of `rosidl_parser.definition`, for `SLOT_TYPES` of message classes."""

from __future__ import annotations

from ros2_embedded.rosidl.definition import IDL_NAMES, FieldType
from rosidl_parser.definition import (
    AbstractNestableType,
    AbstractType,
    Array,
    BasicType,
    BoundedSequence,
    BoundedString,
    BoundedWString,
    NamespacedType,
    UnboundedSequence,
    UnboundedString,
    UnboundedWString,
)


def _element_type(kind: FieldType) -> AbstractNestableType:
    if kind.base == "string":
        return BoundedString(kind.string_bound) if kind.string_bound else UnboundedString()
    if kind.base == "wstring":
        return BoundedWString(kind.string_bound) if kind.string_bound else UnboundedWString()
    if kind.is_primitive:
        return BasicType(IDL_NAMES.get(kind.base, kind.base))
    *namespaces, name = kind.base.split("/")
    return NamespacedType(namespaces, name)


def slot_type(kind: FieldType) -> AbstractType:
    """Return the type of one field."""
    element = _element_type(kind)
    if kind.kind == "array":
        return Array(element, kind.size)
    if kind.kind == "sequence":
        return BoundedSequence(element, kind.size) if kind.size else UnboundedSequence(element)
    return element
