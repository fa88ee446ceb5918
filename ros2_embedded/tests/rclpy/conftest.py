"""A context for each test, nodes that are cleaned up, and other processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rclpy
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node

PEER = Path(__file__).parent / "peer.py"
PATIENCE_S = 90.0  # how long a test waits for what must happen; passing tests wait a fraction of it


@pytest.fixture
def context() -> Iterator[rclpy.Context]:
    """An initialised default context."""
    context = rclpy.init(args=[])
    yield context
    rclpy.try_shutdown()


@pytest.fixture
def node(context: rclpy.Context) -> Iterator[Node]:
    """A node."""
    node = Node("tester")
    yield node
    node.destroy_node()


@pytest.fixture
def spin(node: Node) -> Iterator[Callable[..., None]]:
    """Call it with a predicate: spins the node until it holds, and fails when it never does."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def until(predicate: Callable[[], Any], patience: float = PATIENCE_S) -> None:
        end = time.monotonic() + patience
        while not predicate():
            assert time.monotonic() < end, "what was waited for did not happen"
            executor.spin_once(timeout_sec=0.05)

    yield until
    executor.shutdown()


@pytest.fixture
def threaded(node: Node) -> Iterator[Executor]:
    """A multi-threaded executor that spins the node in the background."""
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield executor
    executor.shutdown(timeout_sec=0)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.fixture
def peer() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start another process with a role of `peer.py`."""
    started: list[subprocess.Popen[str]] = []

    def start(role: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(PEER), role, *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
