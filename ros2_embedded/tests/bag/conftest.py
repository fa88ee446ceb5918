"""A publisher in this process, and `ros2` in others."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest


def wait_until(condition: Callable[[], bool], timeout: float = 20.0) -> bool:
    """Poll a condition; the limit only ends a test that fails anyway."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.fixture(scope="module")
def node() -> Iterator[object]:
    """A node of this process."""
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    made = rclpy.create_node("bag_test", context=context)
    yield made
    made.destroy_node()
    rclpy.shutdown(context=context)


class Ros2:
    """Starts `ros2` with arguments."""

    wait_until = staticmethod(wait_until)

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []

    def __call__(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "ros2cli.cli", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process


@pytest.fixture
def ros2() -> Iterator[Ros2]:
    """Whatever still runs at the end of a test is killed."""
    runner = Ros2()
    yield runner
    for process in runner.started:
        if process.poll() is None:
            process.kill()
            process.wait()
