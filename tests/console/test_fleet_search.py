"""The search of deployments in a large graph, and their stop, of which a call may be lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from openral.msg import ControlStatus
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from openral_console.ros import fleet_stop
from openral_console.ros.fleet_node import FleetNode, fleet

LOOK_S = 0.05
"""[s] that a look at a graph of a hundred robots takes."""
ROBOTS = 20


class Looks:
    """Makes each look at the graph take LOOK_S, and counts how much of the time is spent so."""

    def __init__(self) -> None:
        self.spent_s = 0.0
        self._real = fleet_stop.deployments_in

    def __call__(self, node: Node) -> list[str]:
        begun = time.monotonic()
        time.sleep(LOOK_S)
        found = self._real(node)
        self.spent_s += time.monotonic() - begun
        return found


def accept(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    response.success = True
    return response


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    made = Looks()
    monkeypatch.setattr(fleet_stop, "deployments_in", made)
    return made


@pytest.fixture
def searcher() -> Iterator[FleetNode]:
    """The node of `openral fleet`, in a graph with twenty bridges that say their status."""
    with fleet() as node:
        others = [rclpy.create_node("sim_bridge", namespace=f"/r{number}") for number in range(ROBOTS)]
        for other in others:
            publisher = other.create_publisher(ControlStatus, "control_status", 10)
            other.create_service(Trigger, "estop", accept)
            other.create_timer(0.1, lambda publisher=publisher: publisher.publish(ControlStatus()))
        executor = rclpy.executors.SingleThreadedExecutor()
        for other in others:
            executor.add_node(other)
        thread = threading.Thread(target=executor.spin)
        thread.start()
        yield node
        executor.shutdown()
        thread.join()
        for other in others:
            other.destroy_node()


def test_looks_leave_most_of_the_time_to_what_arrives(looks: Looks, searcher: FleetNode) -> None:
    begun = time.monotonic()
    found = searcher.look(2.0)
    assert len(found) == ROBOTS
    assert all(robot.control is not None for robot in found.values())
    assert looks.spent_s < 0.3 * (time.monotonic() - begun)


def test_a_stop_whose_first_call_is_lost_is_called_again(
    searcher: FleetNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph may show a server before the links lead to it; a request then reaches nobody."""
    sent: list[Client] = []
    real = Client.call_async

    def losing(client: Client, request: Any) -> Any:
        sent.append(client)
        return real(client, request) if sent.count(client) > 1 else Future()

    monkeypatch.setattr(Client, "call_async", losing)
    answers = searcher.stop(["/r0", "/r1"], 2.0)
    assert [(answer.namespace, answer.fault) for answer in answers] == [("/r0", ""), ("/r1", "")]
