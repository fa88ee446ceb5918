"""What nodes of launch files are called, and which parameters and arguments they get."""

from __future__ import annotations

import io
import itertools
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from launch import LaunchContext, LaunchService
from launch.frontend import Parser
from launch.substitutions import TextSubstitution
from launch.utilities import perform_substitutions
from launch_ros.actions import (
    LifecycleNode,
    Node,
    PushROSNamespace,
    SetParameter,
    SetParametersFromFile,
    SetRemap,
)
from launch_ros.actions.load_composable_nodes import get_composable_node_load_request
from launch_ros.descriptions import ComposableNode, Parameter, ParameterValue
from launch_ros.utilities import evaluate_parameters
from rclpy.arguments import parse_arguments

PARAMETERS = """
/**:
  ros__parameters:
    speed: 1
    height: 2
/cell:
  arm:
    ros__parameters:
      height: 3
  "*":
    ros__parameters:
      width: 4
/*/left/**/arm:
  ros__parameters:
    depth: 5
"""


@pytest.fixture
def context() -> LaunchContext:
    return LaunchContext()


def arm(**arguments: Any) -> Node:
    return Node(package="robots", executable="arm", **arguments)


def command(node: Node, context: LaunchContext) -> list[str]:
    """The command of a node whose names and parameters are expanded, without what the visit adds."""
    node._perform_substitutions(context)
    return [
        perform_substitutions(context, part) for part in node.cmd if isinstance(part[0], TextSubstitution)
    ]


@pytest.mark.parametrize(
    ("pushed", "own", "expected"),
    [
        (["cell"], "arm", "/cell/arm"),
        (["cell"], "/arm", "/arm"),
        (["cell"], "/", "/"),
        (["cell"], "", "/cell"),
        (["cell", "left"], "arm", "/cell/left/arm"),
        (["cell", "/left"], "arm", "/left/arm"),
        ([], "arm", "/arm"),
        ([""], None, "/"),
        ([], None, Node.UNSPECIFIED_NODE_NAMESPACE),
    ],
)
def test_namespaces(context: LaunchContext, pushed: list[str], own: str | None, expected: str) -> None:
    for namespace in pushed:
        PushROSNamespace(namespace).execute(context)
    node = arm(name="joint", namespace=own)
    node._perform_substitutions(context)
    assert node.expanded_node_namespace == expected
    assert node.node_name == f"{expected.rstrip('/')}/joint"
    component = ComposableNode(package="robots", plugin="robots::Arm", name="joint", namespace=own)
    request = get_composable_node_load_request(component, context)
    assert request.node_namespace == ("" if expected == Node.UNSPECIFIED_NODE_NAMESPACE else expected)


@pytest.mark.parametrize(
    ("name", "namespace", "expected"),
    [
        ("arm", "/cell", {"speed": 1, "height": 3, "width": 4}),
        ("leg", "/cell", {"speed": 1, "height": 2, "width": 4}),
        ("arm", "/hall/left/upper/outer", {"speed": 1, "height": 2, "depth": 5}),
        ("leg", "", {"speed": 1, "height": 2}),
    ],
)
def test_a_component_gets_its_part_of_a_file(
    context: LaunchContext, tmp_path: Path, name: str, namespace: str, expected: dict[str, int]
) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text(PARAMETERS)
    component = ComposableNode(
        package="robots", plugin="robots::Arm", name=name, namespace=namespace, parameters=[file]
    )
    request = get_composable_node_load_request(component, context)
    assert {entry.name: entry.value.integer_value for entry in request.parameters} == expected


def test_a_pattern_of_three_stars_is_refused(context: LaunchContext, tmp_path: Path) -> None:
    file = tmp_path / "parameters.yaml"
    file.write_text("/***:\n  ros__parameters:\n    speed: 1\n")
    SetParametersFromFile(str(file)).execute(context)
    component = ComposableNode(package="robots", plugin="robots::Arm", name="arm", namespace="/cell")
    with pytest.raises(RuntimeError, match=r"\*\*\*"):
        get_composable_node_load_request(component, context)


def test_the_command_holds_parameters_and_remappings(context: LaunchContext, tmp_path: Path) -> None:
    SetParameter(name="speed", value=2).execute(context)
    SetRemap("camera", "left_camera").execute(context)
    node = arm(name="joint", namespace="cell", parameters=[{"gain": 0.5}], remappings=[("a", "b")])
    words = command(node, context)
    pairs = list(itertools.pairwise(words))
    assert ("-p", "speed:=2") in pairs
    assert ("-r", "camera:=left_camera") in pairs
    assert ("-r", "a:=b") in pairs
    file = Path(words[words.index("--params-file") + 1])
    assert yaml.safe_load(file.read_text()) == {"/cell/joint": {"ros__parameters": {"gain": 0.5}}}
    assert node.expanded_remapping_rules == [("camera", "left_camera"), ("a", "b")]


def test_texts_stay_texts_and_numbers_become_numbers(context: LaunchContext) -> None:
    typed = ParameterValue(TextSubstitution(text="1e-3"), value_type=str)
    given = {"axis": "y", "version": "1e3", "typed": typed, "tolerance": TextSubstitution(text="1e-3")}
    SetParameter(name="mode", value="off").execute(context)
    words = command(arm(name="joint", namespace="cell", parameters=[given]), context)
    read = {name: value for _, name, value in parse_arguments(words).parameters}
    expected = {"axis": "y", "version": "1e3", "typed": "1e-3", "tolerance": 0.001, "mode": "off"}
    assert {name: read[name] for name in expected} == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"parameters": {"speed": 1}},
        {"parameters": "file.yaml"},
        {"parameters": [5.0]},
        {"parameters": [{5: "speed"}]},
        {"parameters": [{"joints": [1, [2, 3]]}]},
        {"parameters": [{"joints": {1, 2}}]},
        {"remappings": {"a": "b"}},
        {"remappings": [{"a": "b"}]},
    ],
)
def test_what_is_no_parameter_is_refused_at_once(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        arm(**arguments)


def test_names_of_lifecycle_nodes_are_needed() -> None:
    for arguments in ({"name": "arm"}, {"namespace": "cell"}):
        with pytest.raises(TypeError):
            LifecycleNode(package="robots", executable="arm", **arguments)


def test_a_parameter_of_a_type(context: LaunchContext) -> None:
    assert Parameter("speed", TextSubstitution(text="1")).evaluate(context) == ("speed", 1)
    assert Parameter("speed", "1").evaluate(context) == ("speed", "1")
    with pytest.raises(ValueError, match="1"):
        Parameter("speed", "1", value_type=int).evaluate(context)


XML = """
<launch>
  <node pkg="robots" exec="arm" name="arm" ros_args="--log-level debug">
    <param name="speed" value="2"/>
    <param name="label" value="2" type="str"/>
    <param name="joints" value="1, 2" value-sep=", "/>
    <param name="words" value="1, 2" value-sep=", " type="list_of_str"/>
    <param name="group"><param name="on" value="true"/></param>
  </node>
</launch>
"""
YAML = """
launch:
- node:
    pkg: robots
    exec: arm
    name: arm
    ros_args: --log-level debug
    param:
    - {name: speed, value: 2}
    - {name: label, value: "2", type: str}
    - {name: joints, value: [1, 2]}
    - {name: words, value: ["1", "2"], type: list_of_str}
    - name: group
      param:
      - {name: "on", value: true}
"""


@pytest.mark.parametrize("text", [XML, YAML], ids=["xml", "yaml"])
def test_types_of_parameters_in_markup(text: str) -> None:
    root, parser = Parser.load(io.StringIO(textwrap.dedent(text)))
    (node,) = parser.parse_description(root).entities
    values: dict[str, Any] = {}
    for part in evaluate_parameters(LaunchService().context, node._Node__parameters):
        values.update(part)
    expected = {
        "speed": 2,
        "label": "2",
        "joints": [1, 2],
        "words": ["1", "2"],
        "group.on": True,
    }
    assert values == expected
    words = command(node, LaunchContext())
    assert words[words.index("--log-level") + 1] == "debug"
