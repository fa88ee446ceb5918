"""Check a JSON value against a JSON Schema, in a closed part of JSON Schema 2020-12.

Schemas of a skill's parameters come from manifests and from the graph, where anybody may send anything. So the part is
closed: references, patterns and other keywords that could take unbounded time are refused by `schema_fault`, which is
asked before a schema is kept. `value_fault` checks a value; its answer names the place and what would be right.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_DEPTH = 8
"""Schemas inside schemas."""
_SHOWN = 40
"""Characters of a bad value that an answer repeats."""
_BOUNDS: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
    ("minimum", operator.ge, "at least"),
    ("maximum", operator.le, "at most"),
    ("exclusiveMinimum", operator.gt, "more than"),
    ("exclusiveMaximum", operator.lt, "less than"),
)
_NUMBERS = tuple(keyword for keyword, _, _ in _BOUNDS)
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_NOTES = ("title", "description", "default", "examples", "deprecated", "readOnly", "$schema", "$comment")
"""Keywords that check nothing."""
_KEYWORDS = {
    *_NUMBERS,
    *_COUNTS,
    *_NOTES,
    *(
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "anyOf",
    ),
}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, (list, tuple)),
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),  # type: ignore[call-overload]
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def schema_fault(schema: object, where: str = "schema", depth: int = MAX_DEPTH) -> str:
    """Return why a value is no schema of the part that is understood here; empty: it is one."""
    if not isinstance(schema, Mapping):
        return f"{where} is no JSON object"
    if depth == 0:
        return f"{where} lies deeper than {MAX_DEPTH} schemas"
    unknown = sorted(str(keyword) for keyword in schema if keyword not in _KEYWORDS)
    if unknown:
        return f"{where} uses {unknown[0][:_SHOWN]!r}; use {', '.join(sorted(_KEYWORDS - set(_NOTES)))}"
    types = schema.get("type", [])
    if not all(isinstance(each, str) and each in _TYPES for each in _listed(types)):
        return f"{where}.type is {_shown(types)}; use {', '.join(_TYPES)}"
    for keyword in (*_NUMBERS, *_COUNTS):
        if not _is_number(schema.get(keyword, 0)):
            return f"{where}.{keyword} is {_shown(schema[keyword])}; write a number"
    if not _are_strings(schema.get("required", [])):
        return f"{where}.required is no list of names"
    if not isinstance(schema.get("enum", []), list):
        return f"{where}.enum is no list"
    return next(
        filter(None, (schema_fault(each, place, depth - 1) for place, each in _inner(schema, where))), ""
    )


def _inner(schema: Mapping[str, Any], where: str) -> list[tuple[str, object]]:
    """Return the schemas inside a schema, each with its place."""
    found: list[tuple[str, object]] = []
    properties = schema.get("properties", {})
    if isinstance(properties, Mapping):
        found += [(f"{where}.properties.{name}", each) for name, each in properties.items()]
    else:
        found.append((f"{where}.properties", properties))
    for keyword in ("prefixItems", "anyOf"):
        each = schema.get(keyword, [])
        listed = each if isinstance(each, list) else [each]
        found += [(f"{where}.{keyword}.{index}", one) for index, one in enumerate(listed)]
    for keyword in ("items", "additionalProperties"):
        if not isinstance(schema.get(keyword, True), bool):
            found.append((f"{where}.{keyword}", schema[keyword]))
    return found


def value_fault(value: object, schema: Mapping[str, Any], where: str) -> str:
    """Return the first thing that is wrong with a value, in words; empty: nothing.

    Args:
        value: as `json.loads` returns it.
        schema: one without a `schema_fault`.
        where: what the value is called in the answer.
    """
    types = _listed(schema.get("type", []))
    if types and not any(_TYPES[name](value) for name in types):
        return f"{where} is {_shown(value)}; it must be of type {' or '.join(types)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {_shown(value)}; it must be one of {', '.join(map(str, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        return f"{where} is {_shown(value)}; it must be {_shown(schema['const'])}"
    if "anyOf" in schema:
        faults = [value_fault(value, each, where) for each in schema["anyOf"]]
        if faults and all(faults):
            return faults[0]
    if isinstance(value, str):
        return _size_fault(len(value), "characters", "Length", schema, where)
    if isinstance(value, Mapping):
        return _object_fault(value, schema, where)
    if isinstance(value, (list, tuple)):
        return _array_fault(value, schema, where)
    return _number_fault(value, schema, where) if _is_number(value) else ""


def _number_fault(value: Any, schema: Mapping[str, Any], where: str) -> str:
    for keyword, holds, words in _BOUNDS:
        if keyword in schema and not holds(value, schema[keyword]):
            return f"{where} is {_shown(value)}; it must be {words} {schema[keyword]}"
    return ""


def _size_fault(size: int, what: str, kind: str, schema: Mapping[str, Any], where: str) -> str:
    if size > schema.get(f"max{kind}", math.inf):
        return f"{where} has {size} {what}; send at most {schema[f'max{kind}']}"
    if size < schema.get(f"min{kind}", 0):
        return f"{where} has {size} {what}; send at least {schema[f'min{kind}']}"
    return ""


def _object_fault(value: Mapping[Any, Any], schema: Mapping[str, Any], where: str) -> str:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    missing = [name for name in schema.get("required", []) if name not in value]
    if missing:
        return f"{where} has no {missing[0]}; it needs {', '.join(schema['required'])}"
    for name, each in value.items():
        if name not in known and others is False:
            return f"{where} takes no {_shown(name)}; it takes {', '.join(known) or 'nothing'}"
        inner, place = (
            known.get(name, others),
            f"{where}.{name}" if name in known else f"{where}[{_shown(name)}]",
        )
        fault = value_fault(each, inner, place) if isinstance(inner, Mapping) else ""
        if fault:
            return fault
    return ""


def _array_fault(value: Sequence[Any], schema: Mapping[str, Any], where: str) -> str:
    fault = _size_fault(len(value), "items", "Items", schema, where)
    if fault:
        return fault
    first, rest = schema.get("prefixItems", []), schema.get("items", True)
    for index, each in enumerate(value):
        inner = first[index] if index < len(first) else rest
        if inner is False:
            return f"{where} has {len(value)} items; send at most {len(first)}"
        fault = value_fault(each, inner, f"{where}[{index}]") if isinstance(inner, Mapping) else ""
        if fault:
            return fault
    return ""


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _shown(value: object) -> str:
    """Return a value as short JSON in ASCII."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 2]} …"
