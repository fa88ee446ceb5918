"""RIHS01 type hashes: SHA-256 of the canonical JSON type description (REP 2011, rosidl type_description)."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from ros2_embedded.rosidl.definition import Definition, Field
from ros2_embedded.rosidl.registry import distribution, get_definition

# type_description_interfaces/msg/FieldType: ids of the single types, and the offsets of their collections.
_NESTED = 1
_IDS = {
    "int8": 2,
    "uint8": 3,
    "int16": 4,
    "uint16": 5,
    "int32": 6,
    "uint32": 7,
    "int64": 8,
    "uint64": 9,
    "float32": 10,
    "float64": 11,
    "bool": 15,
    "byte": 16,
    "string": 17,
    "wstring": 18,
}
_BOUNDED = {"string": 21, "wstring": 22}
_ARRAY, _BOUNDED_SEQUENCE, _UNBOUNDED_SEQUENCE = 48, 96, 144
NO_HASH = "TypeHashNotSupported"
"""Constant that Humble's rmw_zenoh uses instead of a hash."""


def _describe_field(field: Field) -> dict[str, Any]:
    """Return the `Field` entry of a type description."""
    kind = field.type
    type_id = _BOUNDED[kind.base] if kind.string_bound else _IDS.get(kind.base, _NESTED)
    if kind.kind == "array":
        type_id += _ARRAY
    elif kind.kind == "sequence":
        type_id += _BOUNDED_SEQUENCE if kind.size else _UNBOUNDED_SEQUENCE
    return {
        "name": field.name,
        "type": {
            "type_id": type_id,
            "capacity": kind.size,
            "string_capacity": kind.string_bound,
            "nested_type_name": "" if kind.is_primitive else kind.base,
        },
    }


def _collect(definition: Definition, found: dict[str, dict[str, Any]]) -> None:
    """Add the description of a type and of all types it refers to."""
    if definition.name in found:
        return
    found[definition.name] = {
        "type_name": definition.name,
        "fields": [_describe_field(field) for field in definition.fields],
    }
    for field in definition.fields:
        if not field.type.is_primitive:
            _collect(get_definition(field.type.base), found)


@cache
def describe(name: str) -> dict[str, Any]:
    """Return the canonical description of a type, and of all types it refers to in the order of their names.

    Raises:
        InterfaceNotFoundError: no package provides it.
    """
    found: dict[str, dict[str, Any]] = {}
    _collect(get_definition(name), found)
    described = found.pop(name)
    return {
        "type_description": described,
        "referenced_type_descriptions": [found[key] for key in sorted(found)],
    }


@cache
def type_hash(name: str) -> str:
    """Return the hash of a message, or of a whole service, as `RIHS01_<64 hex digits>`."""
    return "RIHS01_" + hashlib.sha256(json.dumps(describe(name)).encode()).hexdigest()


def announced_hash(name: str) -> str:
    """Return the hash that the keys and tokens of endpoints hold.

    Humble has no type hashes, and its rmw_zenoh uses a constant instead. Endpoints with another one do not
    match its endpoints (https://github.com/ros2/rmw_zenoh, branch humble).
    """
    return NO_HASH if distribution() == "humble" else type_hash(name)
