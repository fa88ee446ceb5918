"""Validation of the parameters of a goal against the JSON Schema that its skill announces.

The client of a skill validates them before it sends a goal, and the skill's node before anything moves. Schemas and
values may come from the graph, so that only a subset of JSON Schema is allowed: without references, which could fetch
documents, and without regular expressions, which could take exponential time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from openral_core.errors import ContractError, nearest

MAX_PARAMS = 16_384
"""Largest length of `params_json`, in characters."""
MAX_DEPTH = 8
"""Largest depth of nested schemas and of nested values."""
_EXAMPLE = '{"speed_m_s": 0.1}'
_SHOWN = 40
"""Largest number of characters of a received text that an error quotes."""
_KEYWORDS = frozenset(
    {
        *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "prefixItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "anyOf"),
        *("$schema", "title", "description", "default", "examples"),
    }
)
"""Allowed keywords, whose evaluation takes a time that the length of the value bounds."""


def parse_goal_params(skill: str, schema: Mapping[str, Any] | None, text: str) -> dict[str, Any]:
    """Return the validated parameters of a goal's `params_json`.

    Args:
        skill: name of the skill, for the error.
        schema: the manifest's `goal_params_schema`; None: the skill takes no parameters.
        text: a JSON object; empty: no parameters.

    Raises:
        ContractError: one line that names the parameter and what would be valid.
    """
    if len(text) > MAX_PARAMS:
        raise ContractError(f"params_json has {len(text)} characters; send at most {MAX_PARAMS}")
    try:
        params = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ContractError(f"params_json is not JSON: {_line(str(error))}; write {_EXAMPLE}") from error
    if not isinstance(params, dict):
        raise ContractError(f"params_json is not a JSON object; write one such as {_EXAMPLE}")
    check_goal_params(skill, schema, params)
    return params


def check_goal_params(skill: str, schema: Mapping[str, Any] | None, params: Mapping[str, Any]) -> None:
    """Validate parsed parameters; see `parse_goal_params`."""
    values = dict(params)
    if schema is None:
        if values:
            raise ContractError(
                f"{skill} takes no parameters, {_shown(next(iter(values)))} is given; leave it out"
            )
        return
    check_params_schema(skill, schema)
    _check_numbers("params_json", values, MAX_DEPTH)
    closed = {"additionalProperties": False, **schema}
    try:
        found = Draft202012Validator(closed).iter_errors(values)
        errors = sorted(found, key=lambda error: list(map(str, error.instance_path)))
    except ValueError as error:  # from the conversion of values that are not JSON, such as a lone surrogate
        raise ContractError(f"{skill}: params_json is not JSON: {_line(str(error))}") from error
    if errors:
        raise ContractError(f"{skill}: {_explained(errors[0], closed)}")


def check_params_schema(skill: str, schema: Mapping[str, Any]) -> None:
    """Raise an error unless a schema is a valid JSON Schema with the allowed keywords only.

    Raises:
        ContractError: it names the place and the keyword or the reason.
    """
    fault = _schema_fault(schema, "goal_params_schema", MAX_DEPTH)
    if fault:
        raise ContractError(f"{skill}: {fault}")
    where, reason = "goal_params_schema", ""
    try:
        Draft202012Validator(dict(schema))
    except ValidationError as error:
        where, reason = ".".join((where, *map(str, error.instance_path))), error.message
    except ValueError as error:  # from the conversion of values that are not JSON
        reason = str(error)
    if reason:
        raise ContractError(f"{skill}: {where} is no JSON Schema: {_line(reason)}; correct its manifest")


def _schema_fault(schema: Any, where: str, depth: int) -> str:
    """Return why a schema is not allowed; empty: it is."""
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, Mapping) or depth == 0:
        return (
            f"{where} is no JSON object"
            if depth
            else f"{where} lies too deep; use {MAX_DEPTH} levels at most"
        )
    unknown = next((key for key in schema if key not in _KEYWORDS), None)
    if unknown is not None:
        return f"{where} uses {_shown(unknown)}, which is not run here; use {', '.join(sorted(_KEYWORDS))}"
    return next(
        filter(None, (_schema_fault(each, name, depth - 1) for name, each in _inner(schema, where))), ""
    )


def _inner(schema: Mapping[str, Any], where: str) -> Iterable[tuple[str, Any]]:
    properties = schema.get("properties", {})
    if isinstance(properties, Mapping):
        yield from ((f"{where}.properties.{_line(str(name))}", each) for name, each in properties.items())
    for keyword in ("prefixItems", "anyOf"):
        listed = schema.get(keyword, ())
        if isinstance(listed, (list, tuple)):
            yield from ((f"{where}.{keyword}.{index}", each) for index, each in enumerate(listed))
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield f"{where}.{keyword}", schema[keyword]


def _check_numbers(where: str, value: Any, depth: int) -> None:
    """Refuse nested values beyond a depth, and numbers that no finite float holds, as Python reads them from JSON."""
    if isinstance(value, (int, float)) and not abs(value) <= sys.float_info.max:
        raise ContractError(f"{where} is {_shown(value)}; send a finite number")
    if isinstance(value, (Mapping, list, tuple)):
        if depth == 0:
            raise ContractError(f"{where[:_SHOWN]} lies too deep; send at most {MAX_DEPTH} levels")
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, each in inner:
            _check_numbers(
                _line(str(key)) if depth == MAX_DEPTH else f"{where}[{_line(str(key))}]", each, depth - 1
            )


def _explained(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """Return a message with the fault of a parameter and what would be valid."""
    path = [str(part) for part in error.instance_path]
    where = (path[0] + "".join(f"[{part}]" for part in path[1:]))[:_SHOWN] if path else "params_json"
    kind, found = error.kind, _shown(error.instance)
    properties = list(_object_schema(error, schema).get("properties", {}))
    known = ", ".join(map(_line, properties)) or "none"
    if isinstance(kind, ValidationErrorKind.Required):
        return f"{where}: {_line(kind.property)} is missing; its parameters: {known}"
    if isinstance(kind, ValidationErrorKind.AdditionalProperties):
        extra = kind.unexpected[0]
        match = nearest(extra, properties) if len(extra) < _SHOWN else None
        return f"{where}: unknown {_shown(extra)}; " + (
            f"did you mean {match}?" if match else f"its parameters: {known}"
        )
    right = _RIGHT.get(kind.name)
    return (
        f"{where} is {found}; send {right.format(bound=_words(kind.value))}"
        if right
        else f"{where} is {found}: no"
    )


def _object_schema(error: ValidationError, schema: Any) -> Mapping[str, Any]:
    """Return the part of a schema that has the keyword of an error."""
    for step in error.schema_path[:-1]:
        schema = schema[step]
    return schema if isinstance(schema, Mapping) else {}


_RIGHT = {
    "type": "a value of type {bound}",
    "enum": "one of {bound}",
    "const": "{bound}",
    "minimum": "at least {bound}",
    "maximum": "at most {bound}",
    "exclusiveMinimum": "more than {bound}",
    "exclusiveMaximum": "less than {bound}",
    "multipleOf": "a multiple of {bound}",
    "minLength": "at least {bound} characters",
    "maxLength": "at most {bound} characters",
    "minItems": "at least {bound} items",
    "maxItems": "at most {bound} items",
    "anyOf": "a value of one of its types",
}


def _words(bound: Any) -> str:
    return ", ".join(map(str, bound)) if isinstance(bound, (list, tuple)) else str(bound)


def _shown(value: Any) -> str:
    """Return a received value as short ASCII text."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 2]} …"


def _line(text: str) -> str:
    """Return a received text as one short line of ASCII."""
    return ascii(" ".join(text.split()))[1:-1][:_SHOWN]
