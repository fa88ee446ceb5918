"""What `launch_ros` offers besides running nodes: parameters, namespaces, names, the log directory."""

from __future__ import annotations

from pathlib import Path
from typing import List  # noqa: UP035

import pytest

from launch import LaunchContext
from launch.conditions import IfCondition
from launch.frontend import Parser
from launch.substitutions import LaunchConfiguration, TextSubstitution
from launch_ros.actions import Node, SetRemap, SetROSLogDir, SetRosLogDir
from launch_ros.actions.load_composable_nodes import get_composable_node_load_request
from launch_ros.descriptions import ComposableNode, Parameter, ParameterFile, ParameterValue
from launch_ros.utilities import (
    add_node_name,
    evaluate_parameters,
    get_node_name_count,
    is_namespace_absolute,
    is_root_namespace,
    make_namespace_absolute,
    normalize_parameters,
    prefix_namespace,
)


@pytest.fixture
def context():
    return LaunchContext()


def text(value):
    return TextSubstitution(text=value)


class TestParameters:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (["/a/b", Path("c")], (Path("/a/b"), Path("c"))),
            ([(text("/a"), text("/b"))], (Path("/a/b"),)),
            ([{"a": 1, "b": {"c": 2.0, "d": {"e": "x"}}}], ({"a": 1, "b.c": 2.0, "b.d.e": "x"},)),
            ([{(text("a"), "b"): text("off")}], ({"ab": False},)),
            ([{"a": "off", "b": ["1", "2"]}], ({"a": "off", "b": ("1", "2")},)),
            ([{"a": [text("x"), "y"], "b": [[text("x")], "y"]}], ({"a": "xy", "b": ("x", "y")},)),
            ([{"a": [1, 2.5]}], ({"a": (1.0, 2.5)},)),
            ([{"a": b"\xff"}], ({"a": b"\xff"},)),
            ([{"a": text("[1, 2]")}], ({"a": (1, 2)},)),
            ([{"a": ParameterValue(text("[1, 2]"), value_type=str)}], ({"a": "[1, 2]"},)),
            ([{"a": ParameterValue(text("1e-3"), value_type=float)}], ({"a": 0.001},)),
            ([{"a": ParameterValue(text("[1e-3, 2]"), value_type=list[float])}], ({"a": [0.001, 2.0]},)),
            ([Parameter("a", 5)], (("a", 5),)),
        ],
    )
    def test_values(self, context, given, expected):
        assert evaluate_parameters(context, normalize_parameters(given)) == expected

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ([True, 1], "non-empty"),
            ([], "non-empty"),
            (text("[]"), "non-empty"),
            (text("[1, 2.0]"), "non-empty"),
            (text("[[1], [2]]"), "non-empty"),
            ([text("x"), 1], "non-empty"),
            (text("{a: 1}"), "Allowed value types.*dict"),
            (text("a : b : c"), "Unable to parse"),
            (object(), "Allowed value types"),
        ],
    )
    def test_what_parameters_cannot_be(self, context, value, problem):
        with pytest.raises(TypeError, match=problem):
            evaluate_parameters(context, normalize_parameters([{"a": value}]))

    @pytest.mark.parametrize("wrong", [{"a": 1}, "file.yaml", text("file.yaml"), 5])
    def test_parameters_are_a_list(self, wrong):
        with pytest.raises(TypeError):
            normalize_parameters(wrong)

    def test_a_parameter_knows_its_parts_before_and_after(self, context):
        parameter = Parameter(["na", text("me")], text("1"), value_type=int)
        assert [part.text for part in parameter.name] == ["na", "me"]
        assert [part.text for part in parameter.value] == ["1"]
        assert parameter.value_type is int
        assert parameter.evaluate(context) == ("name", 1)
        assert (parameter.name, parameter.value) == ("name", 1)

    @pytest.mark.parametrize(
        ("value", "kind"),
        [("1", int), ("[1]", List[int]), (text("[1, x]"), None)],  # noqa: UP006
    )
    def test_plain_text_is_no_number_and_lists_hold_one_type(self, context, value, kind):
        with pytest.raises(ValueError, match="value"):
            Parameter("p", value, value_type=kind).evaluate(context)

    def test_plain_text_stays_text(self, context):
        assert Parameter("p", "1").evaluate(context) == ("p", "1")

    def test_file(self, context, tmp_path):
        path = tmp_path / "p.yaml"
        path.write_text("/**: {ros__parameters: {a: $(var x)}}")
        context.launch_configurations["x"] = "7"
        plain = ParameterFile(str(path))
        assert plain.evaluate(context) == path == plain.param_file
        assert plain.allow_substs is False
        target = tmp_path / "target.yaml"
        read = ParameterFile(str(path), allow_substs=True)
        assert read.evaluate(context, target) == target == read.param_file
        assert target.read_text() == "/**: {ros__parameters: {a: 7}}"
        with pytest.raises(FileNotFoundError):
            ParameterFile("/no/such/file").evaluate(context)


class TestNamespaces:
    def test_properties(self):
        assert [is_namespace_absolute(ns) for ns in ("/", "/a", "", "a/b")] == [True, True, False, False]
        assert [is_root_namespace(ns) for ns in ("/", "/a", "")] == [True, False, False]
        assert [make_namespace_absolute(ns) for ns in ("", "a", "/a")] == ["/", "/a", "/a"]

    @pytest.mark.parametrize(
        ("base", "own", "expected"),
        [
            (None, None, None),
            ("a", None, "a"),
            (None, "a/", "a"),
            ("a", "b", "a/b"),
            ("/a/", "b", "/a/b"),
            ("a", "/b/", "/b"),
            ("/", "b", "/b"),
            ("a", "", "a"),
            ("", "", ""),
        ],
    )
    def test_prefix(self, base, own, expected):
        assert prefix_namespace(base, own, return_absolute_ns=False) == expected
        absolute = None if expected is None else make_namespace_absolute(expected)
        assert prefix_namespace(base, own) == absolute


def test_names_are_counted(context, capsys):
    add_node_name(context, "/a")
    add_node_name(context, "/a")
    assert [get_node_name_count(context, name) for name in ("/a", "/b")] == [2, 0]
    assert "at least 2 nodes with the name /a" in capsys.readouterr().out


def test_remappings_of_scope_and_node(context):
    node = Node(executable="true", name="n", namespace="ns", remappings=[("c", "d")])
    SetRemap("a", "b").visit(context)
    node.prepare(context)
    assert node.expanded_remapping_rules == [("a", "b"), ("c", "d")]
    assert node.expanded_node_namespace == "/ns"


def test_load_request(context):
    made = ComposableNode(
        package="p",
        plugin="p::N",
        name="n",
        namespace="ns",
        remappings=[("a", "b")],
        parameters=[{"x": 1}],
    )
    request = get_composable_node_load_request(made, context)
    assert (request.package_name, request.plugin_name) == ("p", "p::N")
    assert (request.node_namespace, request.node_name) == ("/ns", "n")
    assert list(request.remap_rules) == ["a:=b"]
    assert [(one.name, one.value.integer_value) for one in request.parameters] == [("x", 1)]
    skipped = ComposableNode(package="p", plugin="p::N", condition=IfCondition("false"))
    assert get_composable_node_load_request(skipped, context) is None


@pytest.mark.parametrize(("new", "expected"), [("sub", "/logs/sub"), ("/other", "/other"), ("", "/logs")])
def test_log_directory(context, new, expected):
    context.environment["ROS_LOG_DIR"] = "/logs"
    context.launch_configurations["where"] = new
    SetROSLogDir(LaunchConfiguration("where")).visit(context)
    assert context.environment["ROS_LOG_DIR"] == expected


def test_log_directory_in_markup(tmp_path):
    path = tmp_path / "f.launch.xml"
    path.write_text("<launch><set_ros_log_dir new_log_dir='x'/></launch>")
    root, parser = Parser.load(str(path))
    assert isinstance(parser.parse_description(root).entities[0], SetRosLogDir)
