"""A package with one node that has a bit of everything, and a runner of `ros2`."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest

NODE = """#!{python}
import time

import rclpy
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from rclpy.action import ActionServer
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header, String


class Robot(LifecycleNode):
    def __init__(self):
        super().__init__("robot")
        self.declare_parameter("speed", 1)
        self.declare_parameter("names", ["a", "b"])
        self.declare_parameter("text", "none")
        self.declare_parameter("arm.gain", 0.5)
        self.chatter = self.create_publisher(String, "chatter", 10)
        self.stamped = self.create_publisher(Header, "stamped", 10)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.latched = self.create_publisher(String, "latched", latched)
        self.latched.publish(String(data="still here"))
        self.heard = self.create_publisher(String, "heard", 10)
        self.create_subscription(String, "ear", lambda message: self.heard.publish(message), 10)
        self.create_service(AddTwoInts, "add", self.add)
        self.server = ActionServer(self, Fibonacci, "fibonacci", self.count)
        self.create_timer(0.05, self.tick)

    def tick(self):
        self.chatter.publish(String(data="speed %d" % self.get_parameter("speed").value))

    def add(self, request, response):
        response.sum = request.a + request.b
        return response

    def count(self, handle):
        feedback = Fibonacci.Feedback()
        feedback.sequence = [0, 1]
        for _ in range(handle.request.order - 1):
            feedback.sequence.append(feedback.sequence[-1] + feedback.sequence[-2])
            time.sleep(0.1)  # feedback that comes before the client has found the topic is lost, as in ROS
            handle.publish_feedback(feedback)
        handle.succeed()
        return Fibonacci.Result(sequence=feedback.sequence)

    def on_configure(self, state):
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        return super().on_activate(state)


rclpy.init()
try:
    rclpy.spin(Robot())
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""


class Ros2:
    """Runs `ros2` with a package `testbed` in the ament index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []
        self.environment = {
            **os.environ,
            "AMENT_PREFIX_PATH": str(folder / "prefix"),
            "ROS_LOG_DIR": str(folder / "log"),
        }
        self._install()

    def _install(self) -> None:
        share = self.folder / "prefix" / "share"
        (share / "ament_index/resource_index/packages").mkdir(parents=True)
        (share / "ament_index/resource_index/packages/testbed").write_text("")
        (share / "testbed/launch").mkdir(parents=True)
        (share / "testbed/package.xml").write_text(
            "<package><name>testbed</name><version>1.2.3</version></package>"
        )
        library = self.folder / "prefix/lib/testbed"
        library.mkdir(parents=True)
        (library / "robot").write_text(NODE.replace("{python}", sys.executable))
        (library / "robot").chmod(0o755)

    def launch_file(self, name: str, text: str) -> None:
        (self.folder / "prefix/share/testbed/launch" / name).write_text(text)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "ros2cli.cli", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a verb to its end: in this process, which starts nothing, unless it becomes or owns others."""
        if arguments[0] not in ("run", "launch"):
            return self._call(arguments)
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=40)
        return process.returncode, output

    def _call(self, arguments: tuple[str, ...]) -> tuple[int, str]:
        from ros2cli.cli import main

        output = io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment, clear=True),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
        ):
            code = main(arguments)
        return code, output.getvalue()

    def ok(self, *arguments: str) -> str:
        code, output = self.run(*arguments)
        assert code == 0, output
        return output

    def stop(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.communicate(timeout=90)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()


def wait_until(condition: Callable[[], bool], timeout: float = 20.0) -> bool:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


@pytest.fixture(scope="module")
def ros2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ros2]:
    """`ros2` without a node."""
    runner = Ros2(tmp_path_factory.mktemp("ros2"))
    yield runner
    runner.stop()


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ros2]:
    """`ros2` beside a running node /robot."""
    runner = Ros2(tmp_path_factory.mktemp("robot"))
    node = runner.start("run", "testbed", "robot")
    if (
        not wait_until(lambda: "/robot" in runner.run("node", "list")[1] or node.poll() is not None)
        or node.poll() is not None
    ):
        node.kill()
        raise RuntimeError(f"the node did not start: {node.communicate()[0]}")
    yield runner
    runner.stop()
