"""The parser of interface definitions."""

from __future__ import annotations

import pytest

from ros2_embedded.rosidl.definition import FieldType
from ros2_embedded.rosidl.derived import parse_action, parse_service
from ros2_embedded.rosidl.parser import InterfaceSyntaxError, parse_message

TEXT = """
# a comment with an apostrophe: it's fine
float64[<=3] limits
string<=10 name "a # b"   # trailing
geometry_msgs/Pose[2] poses
Other other
int32[] numbers [1, 2]
bool flag true
uint8 MODE_A=1
string TITLE="x # y"
float32 HALF = 0.5
"""


def test_fields_constants_and_defaults() -> None:
    definition = parse_message(TEXT, "pkg/msg/Thing")
    fields = {field.name: field for field in definition.fields}
    assert fields["limits"].type == FieldType("float64", "sequence", 3)
    assert fields["name"].type.string_bound == 10
    assert fields["name"].default == "a # b"
    assert fields["poses"].type == FieldType("geometry_msgs/msg/Pose", "array", 2)
    assert fields["other"].type.base == "pkg/msg/Other"
    assert fields["numbers"].default == [1, 2]
    assert fields["flag"].default is True
    assert {c.name: c.value for c in definition.constants} == {"MODE_A": 1, "TITLE": "x # y", "HALF": 0.5}


@pytest.mark.parametrize(
    "line",
    [
        "float64",
        "float64 1a",
        "uint8 X=abc",
        "wchar w w",
        "int32[ a",
        "bool b maybe",
        "int32[0] a",
        "int32[<=0] a",
        "int32[<=] a",
        "string<=0 a",
        "int32<=5 a",
        "uint8 a 256",
        "uint8 A=-1",
        "uint8[] a [0, 256]",
        "int32[2] a [1, 2, 3]",
        "int32[<=2] a [1, 2, 3]",
        "int32[] a [1.5]",
        "string<=3 a 'abcd'",
        "Pose pose 1",
        "int32 fine",
        "string from",
        "bool check_fields",
    ],
)
def test_bad_lines_name_file_and_line(line: str) -> None:
    with pytest.raises(InterfaceSyntaxError, match=r"Thing\.msg:2"):
        parse_message(f"int32 fine\n{line}\n", "pkg/msg/Thing", "Thing.msg")


def test_blanks_may_be_tabs() -> None:
    definition = parse_message("int32\tx\t\t5\nuint8\tA\t=\t1\nfloat64[]\tb\t[1,\t0.5]\n", "pkg/msg/Thing")
    assert [(field.name, field.default) for field in definition.fields] == [("x", 5), ("b", [1.0, 0.5])]
    assert definition.constants[0].value == 1


def test_services_and_actions_need_their_sections() -> None:
    with pytest.raises(InterfaceSyntaxError, match="2 sections"):
        parse_service("int32 a\n", "pkg/srv/S")
    with pytest.raises(InterfaceSyntaxError, match="3 sections"):
        parse_action("int32 a\n---\n", "pkg/action/A")


def test_empty_section_has_the_placeholder_field() -> None:
    request = parse_service("---\n", "pkg/srv/S")[0]
    assert [field.name for field in request.fields] == ["structure_needs_at_least_one_member"]
