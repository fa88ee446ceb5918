"""Values of parameters in YAML, as a real rcl of Jazzy was seen to read them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import rclpy
from rclpy.arguments import ROSArgumentError, parse_arguments, read_parameter_file
from rclpy.node import Node

VALUES: dict[str, Any] = {
    "1e3": 1000.0,
    "1e-3": 0.001,
    "-1E+5": -100000.0,
    "1.e3": 1000.0,
    ".5": 0.5,
    "5.": 5.0,
    "+5": 5,
    "0x10": 16,
    "010": 8,
    "0o10": "0o10",
    "0b11": "0b11",
    "1_000": "1_000",
    "1:30": "1:30",
    "1.0.0": "1.0.0",
    "2020-01-01": "2020-01-01",
    "null": "null",
    "~": "~",
    ".inf": math.inf,
    "-.Inf": -math.inf,
    "inf": math.inf,
    "1e400": "1e400",
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": 2.0**63,
    "yes": True,
    "y": True,
    "OFF": False,
    "tRue": "tRue",
    "'1e3'": "1e3",
    '"yes"': "yes",
    "!!str 5": "5",
    "!!float 5": 5,
    "[1e3, 2.0]": [1000.0, 2.0],
    "[yes, n]": [True, False],
    "[null]": ["null"],
    "=": "=",
    "<<": "<<",
}


@pytest.mark.parametrize("text", VALUES)
def test_a_value_is_read_as_rcl_does(text: str, tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(f"/**:\n  ros__parameters:\n    x: {text}\n")
    [(_, _, assigned)] = parse_arguments(["--ros-args", "-p", f"x:={text}"]).parameters
    [(_, _, read)] = read_parameter_file(path)
    for value in (assigned, read):
        assert (value, type(value)) == (VALUES[text], type(VALUES[text]))
    [(_, _, nan)] = parse_arguments(["--ros-args", "-p", "x:=.nan"]).parameters
    assert math.isnan(nan)


def test_keys_are_texts_whatever_they_look_like(tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text("/**:\n  ros__parameters:\n    y: 1\n    on: {1: a, null: b}\n")
    assert [(name, value) for _, name, value in read_parameter_file(path)] == [
        ("y", 1),
        ("on.1", "a"),
        ("on.null", "b"),
    ]


def test_a_tolerance_in_a_file_is_a_number_for_its_node(context: rclpy.Context, tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text("tuned:\n  ros__parameters:\n    tolerance: 1e-6\n")
    node = Node("tuned", cli_args=["--ros-args", "--params-file", str(path)])
    assert node.declare_parameter("tolerance", 0.1).value == 1e-6
    node.destroy_node()
    with pytest.raises(ROSArgumentError, match="no YAML value"):
        parse_arguments(["--ros-args", "-p", "x:=[1"])
