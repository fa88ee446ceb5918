"""Parameters that are numbers are refused where they are none or out of bounds, with bounds and unit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from openral_core.errors import ContractError
from openral_core.ros.number_parameters import number_of, seconds_of


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with rclpy.init():
        made = Node("numbers")
        made.declare_parameter("wait_s", 3.0)
        yield made
        made.destroy_node()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0.0, 3601.0])
def test_a_wait_that_never_ends_or_never_begins_is_refused(node: Node, value: float) -> None:
    node.set_parameters([Parameter("wait_s", value=value)])
    with pytest.raises(ContractError, match=r"^parameter wait_s is .*; give seconds from 0.001 to 3600$"):
        seconds_of(node, "wait_s")


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_both_bounds_are_allowed(node: Node, value: float) -> None:
    node.set_parameters([Parameter("wait_s", value=value)])
    assert number_of(node, "wait_s", least=0.0, most=1.0, unit="metres") == value
