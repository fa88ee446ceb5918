"""A node, and a way to spin it until something holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

PATIENCE_S = 90.0


@pytest.fixture
def node() -> Iterator[Node]:
    """A node in a context of its own."""
    rclpy.init(args=[])
    node = Node("tester")
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def spin(node: Node) -> Iterator[Callable[..., None]]:
    """Call it with a predicate: spins the node until it holds, and fails when it never does."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def until(predicate: Callable[[], Any]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not predicate():
            assert time.monotonic() < end, "what was waited for did not happen"
            executor.spin_once(timeout_sec=0.05)

    yield until
    executor.shutdown()
