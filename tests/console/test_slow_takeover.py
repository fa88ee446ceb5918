"""An operator who takes the arm has it, although the bridge takes its time to answer, and lets nothing fall."""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from openral.msg import ActionChunk
from openral.srv import Intervene
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import ControlView
from openral_console.ros.teleop_controller import HEARTBEAT_S, SETTLED_S, SKILL, TeleopController
from openral_console.teleop.steering import Steer
from openral_core.scene import DeployScene, load_scene

ANSWER_S = SETTLED_S + HEARTBEAT_S + 0.2


class Bridge(LiveDeployment):
    """Says all the while what it is, and answers late."""

    operator = ""
    answer_s = ANSWER_S

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node

    @property
    def control(self) -> ControlView:
        numbers = (0, 0, 0, 0, 20.0, 20.0, 1.0)
        return ControlView(
            time.monotonic(), "", "", "realtime", "", True, False, *numbers, "", operator=self.operator
        )

    @control.setter
    def control(self, _: ControlView | None) -> None:
        """Nothing is stored."""

    def intervene(self, request: Intervene.Request, response: Intervene.Response) -> Intervene.Response:
        """Serve, like the service of that name."""
        time.sleep(self.answer_s if request.take else 0.0)
        self.operator = request.who if request.take else ""
        response.success = True
        return response


def until(condition: Callable[[], object]) -> None:
    due = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < due
        time.sleep(0.02)


@pytest.fixture
def scene() -> DeployScene:
    return load_scene("metaworld_drawer")


@pytest.fixture
def bridge() -> Iterator[tuple[Bridge, TeleopController]]:
    context = rclpy.Context()
    context.init()
    nodes = [rclpy.create_node(name, namespace="/openral", context=context) for name in ("bridge", "console")]
    bridge = Bridge(nodes[0])
    nodes[0].create_service(Intervene, "intervene", bridge.intervene)
    teleop = TeleopController(nodes[1], bridge, "metaworld_drawer")
    executor = MultiThreadedExecutor(num_threads=2, context=context)

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    for node in nodes:
        executor.add_node(node)
    thread = threading.Thread(target=spin)
    thread.start()
    yield bridge, teleop
    executor.shutdown()
    thread.join()
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


@pytest.mark.slow
def test_an_arm_that_is_taken_slowly_is_had(bridge: tuple[Bridge, TeleopController]) -> None:
    there, teleop = bridge
    assert teleop.engage("tab", "ann") == ""
    assert (teleop.holder, there.operator) == ("tab", "ann")
    there.operator = ""  # a stop of every motion ends it
    until(lambda: not teleop.holder)


def test_fingers_keep_what_they_were_told_when_the_arm_is_taken_and_not_what_they_would_have_been(
    bridge: tuple[Bridge, TeleopController], scene: DeployScene
) -> None:
    """The policy's chunk would close them in a while, and is not executed any more."""
    there, teleop = bridge
    there.answer_s = 0.0
    node, heard = there.node, list[ActionChunk]()
    node.create_subscription(ActionChunk, "action_chunk", heard.append, 10)
    chunks = node.create_publisher(ActionChunk, "action_chunk", 10)
    poses = node.create_publisher(PoseStamped, "ee_pose", 10)
    half, dim = round(10.0 / scene.dt), scene.action.dim
    rows = np.zeros((2 * half, dim), np.float32)
    rows[:half, -1], rows[half:, -1] = -0.5, 0.5
    planned = ActionChunk(
        skill="policy", horizon=2 * half, dim=dim, dt=scene.dt, data=array("f", rows.tobytes())
    )
    for chunk in (planned, ActionChunk(skill="policy")):  # while it is executed, and after its goal has ended
        chunks.publish(planned)
        until(lambda: heard and heard[-1].horizon == 2 * half)
        if not chunk.horizon:
            chunks.publish(chunk)
            until(lambda: not heard[-1].horizon)
        assert teleop.engage("tab", "ann") == ""
        until(lambda: not poses.publish(PoseStamped()) and teleop.drive("tab", Steer(x=1.0)) == "")
        until(lambda: heard[-1].skill == SKILL and heard[-1].horizon)
        assert heard[-1].data[-1] == -0.5
        teleop.disengage("tab")
        until(lambda: not heard[-1].horizon)
