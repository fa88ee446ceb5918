"""An operator who takes the arm has it, although the bridge takes its time to answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import rclpy
from openral.srv import Intervene
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import ControlView
from openral_console.ros.teleop_controller import HEARTBEAT_S, SETTLED_S, TeleopController

ANSWER_S = SETTLED_S + HEARTBEAT_S + 0.2


class Bridge(LiveDeployment):
    """Says all the while what it is, and answers late."""

    operator = ""

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
        time.sleep(ANSWER_S if request.take else 0.0)
        self.operator = request.who if request.take else ""
        response.success = True
        return response


@pytest.fixture
def bridge() -> Iterator[tuple[Bridge, TeleopController]]:
    context = rclpy.Context()
    context.init()
    nodes = [rclpy.create_node(name, namespace="/openral", context=context) for name in ("bridge", "console")]
    bridge = Bridge()
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


def test_an_arm_that_is_taken_slowly_is_had(bridge: tuple[Bridge, TeleopController]) -> None:
    there, teleop = bridge
    assert teleop.engage("tab", "ann") == ""
    assert (teleop.holder, there.operator) == ("tab", "ann")
    there.operator = ""  # a stop of every motion ends it
    due = time.monotonic() + 20.0
    while teleop.holder and time.monotonic() < due:
        time.sleep(0.05)
    assert teleop.holder == ""
