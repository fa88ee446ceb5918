"""A console beside another deployment: what that one says on the topics of the whole domain is not shown."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger
from system_stack import Stack

from openral_console.live.deployment import LiveDeployment
from openral_console.ros.console_node import ConsoleNode
from openral_core.cli.printable import MAX_LINE
from openral_core.graph.namespaces import is_of_another

INFO = 20
OWN, OTHERS = "openral/bridge", ("arm2/bridge", "openral/left/bridge")


class Neighbour:
    """A deployment, as far as the graph shows one, that talks."""

    def __init__(self, name: str) -> None:
        self.name = name
        space, _, node = name.rpartition("/")
        self.node = Node(node, namespace=f"/{space}")
        self.node.create_service(Trigger, "estop", lambda request, response: response)
        self._diagnostics = self.node.create_publisher(DiagnosticArray, "/diagnostics", 10)

    def talk(self) -> None:
        self.node.get_logger().info(f"this is {self.name}")
        names = (f"{self.name}: control", f"{self.name}: {'x' * 5000}")
        self._diagnostics.publish(DiagnosticArray(status=[DiagnosticStatus(name=name) for name in names]))


@pytest.fixture
def robots() -> Iterator[list[Neighbour]]:
    rclpy.init(args=[], domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    made = [Neighbour(name) for name in (OWN, *OTHERS)]
    yield made
    for robot in made:
        robot.node.destroy_node()
    rclpy.try_shutdown()


def test_the_log_and_the_diagnostics_are_of_the_own_robot(robots: list[Neighbour]) -> None:
    deployment = LiveDeployment()
    console, executor = ConsoleNode(deployment), SingleThreadedExecutor()
    for node in (console, *(robot.node for robot in robots)):
        executor.add_node(node)

    def said() -> list[str]:
        return [line.text for line in deployment.log.newest(INFO, 100) if line.text.startswith("this is")]

    end = time.monotonic() + 60
    while len(deployment.others) < len(OTHERS) or len(said()) < 5 or not deployment.diagnostics:
        assert time.monotonic() < end, (deployment.others, said(), deployment.diagnostics)
        for robot in robots[::-1] if len(deployment.others) == len(OTHERS) else ():
            robot.talk()
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    console.destroy_node()
    assert set(said()) == {f"this is {OWN}"}
    first, second = deployment.diagnostics
    assert first == f"{OWN}: control"
    assert len(second) <= MAX_LINE, "anybody may send a name of megabytes, which every page would be sent"


@pytest.mark.parametrize(
    ("named", "another"),
    [
        ("openral.reasoner", False),
        ("openral.policy.mini", False),
        ("arm2.policy.mini", True),
        ("arm22/sim_bridge: control", False),
        ("arm2/sim_bridge: control", True),
        ("openral.left.reasoner", True),
        ("motor 3: temperature 1.5", False),
    ],
)
def test_whose_a_name_is(named: str, another: bool) -> None:
    assert is_of_another(named, "/openral", ("/arm2", "/openral/left")) is another


def test_a_console_says_at_once_that_its_deployment_is_not_there(tmp_path: Path) -> None:
    with Stack(tmp_path, "openral", "console", "--namespace", "/nope", "--port", "0") as console:
        console.until_says("no deployment is in /nope yet")
        assert "openral console: http" in console.output
        console.interrupt()
        assert console.wait() == 0


ENDED_WHILE_THE_LOOP_IS_MADE = """
import asyncio, os, signal
from openral_console.http_listener import listen, serve_on
from openral_console.listen_options import ListenOptions

class Loop(asyncio.SelectorEventLoop):
    def __init__(self, *args):
        os.kill(os.getpid(), signal.SIGTERM)
        super().__init__(*args)

def interrupt(number, frame):
    raise KeyboardInterrupt

asyncio.DefaultEventLoopPolicy._loop_factory = Loop
signal.signal(signal.SIGTERM, interrupt)

async def app(scope, receive, send):
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": message["type"] + ".complete"})
    await send({"type": "lifespan.shutdown.complete"})

options = ListenOptions()
serve_on(app, listen(options, 0, "--port"), options)
"""


def test_a_server_that_is_told_to_end_while_its_event_loop_is_made_ends_well() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDED_WHILE_THE_LOOP_IS_MADE], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("end", [Stack.interrupt, Stack.terminate])
def test_a_console_that_is_told_to_end_as_it_begins_ends_well(
    tmp_path: Path, end: Callable[[Stack], None]
) -> None:
    with Stack(tmp_path, "openral", "console", "--namespace", "/nope", "--port", "0") as console:
        console.until_says("openral console: http")
        end(console)
        assert console.wait() == 0
        assert "Traceback" not in console.output
