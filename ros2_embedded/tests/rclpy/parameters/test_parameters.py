"""Parameters: declaration, checks, callbacks, events, files and command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterEvent,
    SetParametersResult,
)

import rclpy
from rclpy.arguments import ROSArgumentError, matches_node, parse_arguments
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
    ParameterNotDeclaredException,
    ParameterUninitializedException,
)
from rclpy.node import Node
from rclpy.parameter import Parameter


def test_declare_get_set_undeclare(node: Node) -> None:
    assert node.declare_parameter("rate", 10).value == 10
    with pytest.raises(ParameterAlreadyDeclaredException):
        node.declare_parameter("rate", 1)
    assert node.set_parameters([Parameter("rate", value=20)])[0].successful
    assert node.get_parameter("rate").get_parameter_value().integer_value == 20
    node.undeclare_parameter("rate")
    with pytest.raises(ParameterNotDeclaredException):
        node.get_parameter("rate")
    assert node.get_parameter_or("rate", Parameter("rate", value=3)).value == 3


def test_type_is_fixed_unless_dynamic(node: Node) -> None:
    node.declare_parameter("fixed", 1.0)
    assert not node.set_parameters([Parameter("fixed", value="x")])[0].successful
    node.declare_parameter("free", 1.0, ParameterDescriptor(dynamic_typing=True))
    assert node.set_parameters([Parameter("free", value="x")])[0].successful


def test_ranges_and_read_only(node: Node) -> None:
    steps = ParameterDescriptor(integer_range=[IntegerRange(from_value=0, to_value=10, step=2)])
    node.declare_parameter("even", 4, steps)
    outcomes = [
        node.set_parameters([Parameter("even", value=value)])[0].successful for value in (6, 7, 12, 10)
    ]
    assert outcomes == [True, False, False, True]
    unit = ParameterDescriptor(floating_point_range=[FloatingPointRange(from_value=0.0, to_value=1.0)])
    with pytest.raises(InvalidParameterValueException):
        node.declare_parameter("gain", 2.0, unit)
    assert not node.has_parameter("gain")
    node.declare_parameter("serial", "a", ParameterDescriptor(read_only=True))
    assert not node.set_parameters([Parameter("serial", value="b")])[0].successful


def test_ranges_take_bounds_in_any_order_and_single_precision(node: Node) -> None:
    back = ParameterDescriptor(integer_range=[IntegerRange(from_value=10, to_value=0, step=2)])
    node.declare_parameter("even", 4, back)
    assert not node.set_parameters([Parameter("even", value=5)])[0].successful
    range_ = FloatingPointRange(from_value=1000.0, to_value=1000.7, step=0.1)
    node.declare_parameter("fine", 1000.0, ParameterDescriptor(floating_point_range=[range_]))
    outcomes = [
        node.set_parameters([Parameter("fine", value=float(value))])[0].successful
        for value in (np.float32(1000.3), np.float32(1000.7), 1000.35, 1000.8)
    ]
    assert float(np.float32(1000.7)) > 1000.7
    assert outcomes == [True, True, False, False]


def test_declaration_by_type(node: Node) -> None:
    node.declare_parameter("later", Parameter.Type.DOUBLE)
    with pytest.raises(ParameterUninitializedException):
        node.get_parameter("later")
    assert not node.set_parameters([Parameter("later", value=1)])[0].successful
    assert node.set_parameters([Parameter("later", value=1.0)])[0].successful


def test_callbacks_decide_and_are_told(node: Node) -> None:
    told: list[Any] = []
    node.declare_parameters("group", [("a", 1), ("b", 2)])
    node.add_on_set_parameters_callback(
        lambda ps: SetParametersResult(successful=all(p.value < 10 for p in ps), reason="too much")
    )
    node.add_post_set_parameters_callback(told.extend)
    both = [Parameter("group.a", value=5), Parameter("group.b", value=50)]
    result = node.set_parameters_atomically(both)
    assert (result.successful, result.reason) == (False, "too much")
    assert node.get_parameter("group.a").value == 1
    assert [r.successful for r in node.set_parameters(both)] == [True, False]
    assert {name: p.value for name, p in node.get_parameters_by_prefix("group").items()} == {"a": 5, "b": 2}
    assert [p.name for p in told] == ["group.a"]


def test_events(node: Node, spin: Callable[..., None]) -> None:
    events: list[Any] = []
    node.create_subscription(ParameterEvent, "/parameter_events", events.append, 10)
    node.declare_parameter("x", 1)
    node.set_parameters([Parameter("x", value=2)])
    spin(lambda: len(events) == 2)
    assert events[0].new_parameters[0].value.integer_value == 1
    assert events[1].changed_parameters[0].value.integer_value == 2
    assert events[1].node == "/tester"


FILE = """
/**:
  ros__parameters:
    everywhere: 1
robot:
  ros__parameters:
    nested: {gain: [1, 2.5]}
/ns/robot:
  ros__parameters:
    everywhere: 2
/other:
  ros__parameters:
    everywhere: 9
"""


def test_files_and_command_line(tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(FILE)
    arguments = ["--ros-args", "--params-file", str(path), "-p", "text:=hello", "-p", "other:text:=no"]
    with rclpy.init(args=arguments):
        plain = Node("robot")
        assert plain.declare_parameter("everywhere", 0).value == 1
        assert plain.declare_parameter("nested.gain", [0.0]).value == [1.0, 2.5]
        assert plain.declare_parameter("text", "").value == "hello"
        spaced = Node("robot", namespace="/ns", parameter_overrides=[Parameter("text", value="mine")])
        assert spaced.declare_parameter("everywhere", 0).value == 2
        assert spaced.declare_parameter("text", "").value == "mine"
        with pytest.raises(InvalidParameterTypeException):
            Node("robot").declare_parameter("everywhere", "text")
        automatic = Node("robot", automatically_declare_parameters_from_overrides=True)
        assert automatic.get_parameter("text").value == "hello"


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("/**", "/a/b", True),
        ("/*", "/a", True),
        ("/*", "/a/b", False),
        ("/ns/**", "/ns/x/y", True),
        ("a", "/a", True),
        ("/**/b", "/a/b", True),
        ("/a", "/ab", False),
    ],
)
def test_node_patterns(pattern: str, name: str, fits: bool) -> None:
    assert matches_node(pattern, name) is fits


def test_arguments() -> None:
    parsed = parse_arguments(["prog", "x", "--ros-args", "-r", "a:=b", "--log-level", "n:=debug", "--", "y"])
    assert parsed.remaining == ["prog", "x", "y"]
    assert parsed.log_levels == [("n", "debug")]
    for wrong in (["-r", "nothing"], ["-p", "x"], ["--params-file", "/no/such"], ["-r"]):
        with pytest.raises(ROSArgumentError):
            parse_arguments(["--ros-args", *wrong])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "BOOL"),
        (1, "INTEGER"),
        (1.0, "DOUBLE"),
        ("a", "STRING"),
        ([b"a"], "BYTE_ARRAY"),
        ([True], "BOOL_ARRAY"),
        ([1, 2], "INTEGER_ARRAY"),
        ([1.0], "DOUBLE_ARRAY"),
        (["a"], "STRING_ARRAY"),
        (None, "NOT_SET"),
    ],
)
def test_types_and_messages(value: object, kind: str) -> None:
    parameter = Parameter("p", value=value)
    assert parameter.type_.name == kind
    assert Parameter.from_parameter_msg(parameter.to_parameter_msg()) == parameter
