"""Values of parameters on the command line and in files that are no values."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from rcl_interfaces.msg import ParameterValue

import rclpy
from rclpy.arguments import ROSArgumentError, parse_arguments, read_parameter_file
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2cli.cli import main
from ros2cli.errors import CliError
from ros2cli.parameters import load_file, parse_value, plain_value, set_values, type_name
from ros2cli.verbs.param.dump import _put
from ros2param.api import get_parameter_type_string


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2.5]", [1.0, 2.5]),
        ("[1, a]", "[1, a]"),
        ("[[1]]", "[[1]]"),
        ("2024-01-01", "2024-01-01"),
        ("7", 7),
        ("1e-3", 0.001),
        ("y", True),
        ("1:30", "1:30"),
        ("9" * 5000, "9" * 5000),
        ("", ""),
    ],
)
def test_what_is_no_value_is_a_text(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    "content", ["arm: 5", "arm: {ros__parameters: [1]}", "/**: {ros__parameters: words}"]
)
def test_a_file_without_names_is_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(content)
    with pytest.raises(CliError, match=re.escape(str(file))):
        load_file(str(file), "/arm")
    if "ros__parameters" in content:
        with pytest.raises(ROSArgumentError, match=re.escape(str(file))):
            parse_arguments(["--ros-args", "--params-file", str(file)])


def test_numbers_of_a_file_may_mix_and_other_lists_are_told_with_their_name(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("arm: {ros__parameters: {gains: [1, 2.5], wrong: [1, a]}}")
    values = load_file(str(file), "/arm")
    assert values["gains"] == [1.0, 2.5]
    with pytest.raises(CliError, match="parameter 'wrong' cannot have the value"):
        set_values(None, "/arm", {"wrong": values["wrong"]})


def test_a_file_is_read_as_a_node_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "lab: {arm: {ros__parameters: {a: 1e-3, b: own}}}\n/lab/*: {ros__parameters: {b: all, c: y}}\n"
        "hand: {ros__parameters: {d: 1}}\n"
    )
    assert load_file(str(file), "/lab/arm") == {"a": 0.001, "b": "own", "c": True}
    assert load_file(str(file), "/lab/arm", use_wildcard=False) == {"a": 0.001, "b": "own"}
    with pytest.raises(
        CliError, match=r"any valid parameters for /foot: '.*' has some for lab/arm, /lab/\*, hand"
    ):
        load_file(str(file), "/foot")


def test_a_dump_keeps_texts_that_look_like_other_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["1e-3", "y", "08", "1:30", "~", "", "on", "0x10", ".5", "plain"]
    with rclpy.Context() as context, Node("dumped", context=context) as node:
        for index, text in enumerate(texts):
            node.declare_parameter(f"text{index}", text)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        spinner = threading.Thread(target=executor.spin)
        spinner.start()
        assert main(["param", "dump", "/dumped", "--no-daemon"]) == 0
        executor.shutdown()
        spinner.join()
    file = tmp_path / "p.yaml"
    file.write_text(capsys.readouterr().out)
    read = {name: value for _, name, value in read_parameter_file(file)}
    assert [read[f"text{index}"] for index in range(len(texts))] == texts


def test_a_group_that_is_a_parameter_too_keeps_both() -> None:
    tree: dict[str, object] = {}
    for name in ("a", "a.b", "a.b.c", "d.e", "d.f"):
        _put(tree, name.split("."), name)
    assert tree == {"a": "a", "a.b": "a.b", "a.b.c": "a.b.c", "d": {"e": "d.e", "f": "d.f"}}


def test_types_have_one_name_each_and_unknown_ones_a_number() -> None:
    for number in range(10):
        assert type_name(number) == get_parameter_type_string(number)
    assert type_name(200) == "unknown type 200"
    with pytest.raises(KeyError):
        get_parameter_type_string(200)
    with pytest.raises(CliError, match="unexpected parameter type 200"):
        plain_value(ParameterValue(type=200))


def test_a_filter_that_is_no_pattern_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["param", "list", "--filter", "["]) == 1
    assert "'[' is no regular expression" in capsys.readouterr().err
