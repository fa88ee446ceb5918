"""Values checked against schemas, beside an independent validator; schemas that are refused before they are kept."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openral_core.json_schema import MAX_DEPTH, schema_fault, value_fault

SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "number", "minimum": 0}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 2}},
    {
        "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2},
        "maxItems": 2,
    },
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": False, "minItems": 1},
    {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"enum": ["x", "y"]}}]},
    {"type": ["string", "null"], "title": "a text"},
    {"const": {"a": 1}},
    {},
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-3, 3)
    | st.sampled_from(["", "x", "y", "xyz"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(st.sampled_from(SCHEMAS), VALUES)
def test_it_agrees_with_an_independent_validator(schema: dict[str, Any], value: Any) -> None:
    assert schema_fault(schema) == ""
    assert (value_fault(value, schema, "it") == "") is jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ([], "schema is no JSON object"),
        ({"$ref": "http://127.0.0.1/x"}, "schema uses '$ref'; use additionalProperties, anyOf"),
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, "schema.properties.a uses 'pattern'"),
        ({"type": "float"}, 'schema.type is "float"; use object'),
        ({"properties": []}, "schema.properties is no JSON object"),
        ({"maximum": "1"}, "schema.maximum"),
        ({"maximum": float("nan")}, "schema.maximum"),
        ({"required": "a"}, "schema.required is no list of names"),
        ({"enum": "a"}, "schema.enum is no list"),
        ({"anyOf": [{"type": "object"}, {"oneOf": []}]}, "schema.anyOf.1 uses 'oneOf'"),
    ],
)
def test_a_schema_of_another_kind_is_refused(schema: object, words: str) -> None:
    assert schema_fault(schema).startswith(words)


def test_a_schema_may_not_lie_too_deep() -> None:
    schema: dict[str, Any] = {}
    for _ in range(MAX_DEPTH):
        schema = {"items": schema}
    assert "deeper than" in schema_fault(schema)


def test_answers_name_the_place_and_what_would_be_right() -> None:
    schema = {"properties": {"a": {"items": {"maximum": 1}}}, "required": ["a"]}
    assert value_fault({"a": [0, 2]}, schema, "params") == "params.a[1] is 2; it must be at most 1"
    assert value_fault({}, schema, "params") == "params has no a; it needs a"
    assert "…" in value_fault("x" * 100, {"type": "number"}, "params")
    assert value_fault(float("nan"), {"type": "number"}, "params")
    assert value_fault(True, {"type": "integer"}, "params")
