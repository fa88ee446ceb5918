"""Declaring, listing and refusing parameters; the callbacks around it."""

from __future__ import annotations

import pytest
from rcl_interfaces.msg import ParameterDescriptor, ParameterValue, SetParametersResult

import rclpy
from rclpy.exceptions import (
    InvalidParameterException,
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterAlreadyDeclaredException,
    ParameterImmutableException,
    ParameterNotDeclaredException,
    ParameterUninitializedException,
)
from rclpy.parameter import Parameter, parameter_dict_from_yaml_file

DYNAMIC = ParameterDescriptor(dynamic_typing=True)


@pytest.fixture
def given(context):
    """A node that starts with some values."""
    node = rclpy.create_node(
        "given",
        parameter_overrides=[Parameter("speed", value=3), Parameter("deep.name", value="x")],
        cli_args=["--ros-args", "-p", "word:=hello", "-p", "ratio:=1."],
    )
    yield node
    node.destroy_node()


class TestDeclaring:
    def test_overrides_win_unless_ignored(self, given):
        assert given.declare_parameter("speed", 0).value == 3
        assert given.declare_parameter("ratio", 0.0).value == 1.0
        assert given.declare_parameter("word", "bye", ignore_override=True).value == "bye"
        assert given.declare_parameter("new", 5).value == 5

    def test_a_name_alone_or_with_a_type(self, given):
        assert given.declare_parameter("word", Parameter.Type.STRING).value == "hello"
        assert given.declare_parameter("unset", Parameter.Type.INTEGER).value is None
        with pytest.raises(ParameterUninitializedException):
            given.get_parameter("unset")
        assert given.declare_parameter("bare").value is None

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (("", 1), InvalidParameterException),
            ((1, 1), TypeError),
            (("a", ParameterValue()), ValueError),
            (("a", Parameter("a")), TypeError),
            (("a", 1, ParameterValue()), TypeError),
            (("a", Parameter.Type.INTEGER, DYNAMIC), ValueError),
            (("speed", "text"), InvalidParameterTypeException),
        ],
    )
    def test_what_cannot_be_declared(self, given, words, error):
        with pytest.raises(error):
            given.declare_parameter(*words)

    def test_a_list_from_outside_that_no_type_fits_is_told_with_its_name(self, context):
        node = rclpy.create_node("told", cli_args=["--ros-args", "-p", "gains:=[1, x]"])
        with pytest.raises(TypeError, match="parameter 'gains'"):
            node.declare_parameter("gains", [1])

    def test_twice(self, given):
        given.declare_parameter("a", 1)
        with pytest.raises(ParameterAlreadyDeclaredException):
            given.declare_parameter("a", 1)

    def test_many_below_a_prefix_all_or_none(self, given):
        made = given.declare_parameters("deep", [("name", "none"), ("other", 2, DYNAMIC), ("third",)])
        assert [parameter.value for parameter in made] == ["x", 2, None]
        assert {"deep.name", "deep.other"} <= set(given.get_parameters_by_prefix("")) | set(given._parameters)
        assert set(given.get_parameters_by_prefix("deep")) == {"name", "other", "third"}
        with pytest.raises(ParameterAlreadyDeclaredException):
            given.declare_parameters("", [("fresh", 1), ("deep.name", "y")])
        for wrong in ((), ("a", 1, DYNAMIC, "extra")):
            with pytest.raises(TypeError):
                given.declare_parameters("", [wrong])

    def test_taking_back(self, given):
        given.declare_parameter("a", 1)
        given.undeclare_parameter("a")
        assert not given.has_parameter("a")
        with pytest.raises(ParameterNotDeclaredException):
            given.undeclare_parameter("a")
        given.declare_parameter("fixed", 1, ParameterDescriptor(read_only=True))
        with pytest.raises(ParameterImmutableException):
            given.undeclare_parameter("fixed")


class TestSetting:
    def test_one_after_the_other_or_all_at_once(self, given):
        given.declare_parameters(
            "", [("a", 1), ("b", "x"), ("fixed", 1, ParameterDescriptor(read_only=True))]
        )
        results = given.set_parameters([Parameter("a", value=2), Parameter("fixed", value=2)])
        assert [result.successful for result in results] == [True, False]
        atomic = given.set_parameters_atomically([Parameter("a", value=3), Parameter("fixed", value=2)])
        assert not atomic.successful
        assert given.get_parameter("a").value == 2
        with pytest.raises(ParameterNotDeclaredException):
            given.set_parameters([Parameter("nobody", value=1)])
        with pytest.raises(TypeError):
            given.set_parameters([42])

    def test_types_are_fixed_unless_dynamic(self, given):
        given.declare_parameter("a", 1)
        given.declare_parameter("any", 1, DYNAMIC)
        wrong, right = given.set_parameters([Parameter("a", value="x"), Parameter("any", value="x")])
        assert not wrong.successful
        assert "Wrong parameter type" in wrong.reason
        assert right.successful

    def test_setting_nothing_takes_a_dynamic_one_back(self, given):
        given.declare_parameter("any", 1, DYNAMIC)
        given.set_parameters([Parameter("any", Parameter.Type.NOT_SET, None)])
        assert not given.has_parameter("any")


class TestCallbacks:
    def test_the_order(self, given):
        order = []

        def pre(parameters):
            order.append("pre")
            return [*parameters, Parameter("b", value=7)]

        def check(parameters):
            order.append([parameter.name for parameter in parameters])
            return SetParametersResult(successful=True)

        given.declare_parameters("", [("a", 1), ("b", 1)])
        given.add_pre_set_parameters_callback(pre)
        given.add_on_set_parameters_callback(check)
        given.add_post_set_parameters_callback(lambda parameters: order.append("post"))
        assert given.set_parameters([Parameter("a", value=2)])[0].successful
        assert order == ["pre", ["a", "b"], "post"]
        assert [p.value for p in given.get_parameters(["a", "b"])] == [2, 7]

    def test_a_refusal_keeps_values_and_declarations_out(self, given):
        given.declare_parameter("a", 1)
        given.add_on_set_parameters_callback(
            lambda parameters: SetParametersResult(successful=False, reason="never")
        )
        result = given.set_parameters([Parameter("a", value=2)])[0]
        assert (result.successful, result.reason) == (False, "never")
        with pytest.raises(InvalidParameterValueException):
            given.declare_parameter("b", 1)
        assert not given.has_parameter("b")

    def test_they_can_be_removed(self, given):
        calls = []

        def check(parameters):
            calls.append(parameters)
            return SetParametersResult(successful=True)

        given.add_on_set_parameters_callback(check)
        given.remove_on_set_parameters_callback(check)
        given.declare_parameter("a", 1)
        assert calls == []
        with pytest.raises(ValueError):  # noqa: PT011
            given.remove_on_set_parameters_callback(check)

    def test_a_program_sees_its_callbacks_and_overrides(self, context):
        node = rclpy.create_node("seen", parameter_overrides=[Parameter("a", value=3)])
        kinds = ("pre", "on", "post")
        before = {kind: len(getattr(node, f"_{kind}_set_parameters_callbacks")) for kind in kinds}
        for kind in kinds:
            getattr(node, f"add_{kind}_set_parameters_callback")(_keep)
            callbacks = getattr(node, f"_{kind}_set_parameters_callbacks")
            assert _keep in callbacks
            assert len(callbacks) == before[kind] + 1
            getattr(node, f"remove_{kind}_set_parameters_callback")(_keep)
            assert _keep not in callbacks
        assert node._parameter_overrides == {"a": Parameter("a", value=3)}
        assert node._allow_undeclared_parameters is False
        node.destroy_node()


def _keep(parameters):
    return parameters


class TestUndeclared:
    def test_they_are_allowed_on_request(self, context):
        node = rclpy.create_node("free", allow_undeclared_parameters=True)
        assert node.get_parameter("nobody").type_ == Parameter.Type.NOT_SET
        assert node.describe_parameter("nobody") == ParameterDescriptor()
        assert node.set_parameters([Parameter("a", value=1)])[0].successful
        assert node.set_parameters([Parameter("a", value="x")])[0].successful
        node.destroy_node()

    def test_a_stand_in(self, given):
        stand_in = Parameter("x", value=3)
        assert given.get_parameter_or("x", stand_in) is stand_in
        with pytest.raises(ParameterNotDeclaredException):
            given.get_parameter("x")


class TestValues:
    @pytest.mark.parametrize(
        ("value", "kind"),
        [
            (True, Parameter.Type.BOOL),
            (1, Parameter.Type.INTEGER),
            (1.5, Parameter.Type.DOUBLE),
            ("x", Parameter.Type.STRING),
            ([b"x"], Parameter.Type.BYTE_ARRAY),
            ([True], Parameter.Type.BOOL_ARRAY),
            ((1, 2), Parameter.Type.INTEGER_ARRAY),
            ([1.5], Parameter.Type.DOUBLE_ARRAY),
            (["x"], Parameter.Type.STRING_ARRAY),
        ],
    )
    def test_a_value_has_its_type_and_survives_a_message(self, value, kind):
        parameter = Parameter("p", value=value)
        assert parameter.type_ == kind
        assert (
            list(Parameter.from_parameter_msg(parameter.to_parameter_msg()).value or [value])
            == (list(value) if isinstance(value, (list, tuple, str)) else [value])
            if isinstance(value, (list, tuple))
            else True
        )

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (("p", Parameter.Type.NOT_SET, 1), ValueError),
            (("p", Parameter.Type.BOOL_ARRAY, 1), ValueError),
            (("p", "integer", 1), TypeError),
        ],
    )
    def test_value_and_type_fit(self, words, error):
        with pytest.raises(error):
            Parameter(*words)

    def test_files(self, tmp_path):
        path = tmp_path / "p.yaml"
        path.write_text(
            "/**: {ros__parameters: {everywhere: 1}}\n"
            "/robot: {ros__parameters: {deep: {name: x}}}\n"
            "/other: {ros__parameters: {only: 1}}\n"
        )
        everything = parameter_dict_from_yaml_file(str(path))
        assert {"deep.name", "only"} <= set(everything)
        assert set(parameter_dict_from_yaml_file(str(path), target_nodes=["/robot"])) == {"deep.name"}
        both = parameter_dict_from_yaml_file(str(path), True, target_nodes=["/robot"])
        assert set(both) == {"deep.name", "everywhere"}
        with pytest.raises(RuntimeError):
            parameter_dict_from_yaml_file(str(path), target_nodes=["/nobody"])

    @pytest.mark.parametrize(
        ("use_wildcard", "node", "names"),
        [
            (False, None, {"own", "deep"}),
            (True, None, {"own", "deep", "all", "below", "one_below"}),
            (True, "arm", {"own", "all"}),
            (True, "/a/arm", {"all", "below", "one_below"}),
            (True, "/a/b/arm", {"deep", "all", "below"}),
            (False, "/a/b/arm", {"deep"}),
            (True, "/nobody", {"all"}),
            (False, "/nobody", "Param file does not contain any valid parameters"),
        ],
    )
    def test_names_of_nodes_with_stars(self, tmp_path, use_wildcard, node, names):
        path = tmp_path / "p.yaml"
        path.write_text(
            "arm: {ros__parameters: {own: 1}}\n"
            "/a/b: {arm: {ros__parameters: {deep: 1}}}\n"
            "/**: {ros__parameters: {all: 1}}\n"
            "/**/arm: {ros__parameters: {below: 1}}\n"
            "/*: {arm: {ros__parameters: {one_below: 1}}}\n"
        )
        targets = None if node is None else [node]
        if isinstance(names, str):
            with pytest.raises(RuntimeError, match=names):
                parameter_dict_from_yaml_file(str(path), use_wildcard, targets)
        else:
            assert set(parameter_dict_from_yaml_file(str(path), use_wildcard, targets)) == names

    def test_what_a_file_has_for_a_node_wins_over_what_it_has_for_all(self, tmp_path):
        path = tmp_path / "p.yaml"
        path.write_text("/robot: {ros__parameters: {a: 1}}\n/**: {ros__parameters: {a: 2, b: 2}}\n")
        found = parameter_dict_from_yaml_file(str(path), True, target_nodes=["/robot"])
        assert {name: each.value.integer_value for name, each in found.items()} == {"a": 1, "b": 2}

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("/robot: {ros__parameters: {gains: [1, x]}}", "parameter 'gains'"),
            ("/robot: {ros__parameters: {gains: [[1]]}}", "parameter 'gains'"),
            ("/robot: &again\n  arm: *again\n", "contains itself"),
        ],
    )
    def test_files_that_hold_no_values(self, tmp_path, text, what):
        path = tmp_path / "p.yaml"
        path.write_text(text)
        with pytest.raises(RuntimeError, match=rf"p\.yaml.*{what}"):
            parameter_dict_from_yaml_file(str(path))
