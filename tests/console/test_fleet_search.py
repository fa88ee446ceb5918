"""The search of deployments, which takes in no more of a large graph than it needs, and their stop.

Calls of a stop may be lost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from openral.msg import ControlStatus, Mission
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger
from typer.testing import CliRunner

from openral_console.fleet_commands import app
from openral_console.live.deployment import LiveDeployment
from openral_console.ros import fleet_node, fleet_stop
from openral_console.ros.convert import mission_of
from openral_console.ros.fleet_node import FleetNode, fleet
from openral_console.ros.service_call import ServiceCall

LOOK_S, PASS_S = 0.05, 0.01
"""[s] that a look at a graph of a hundred robots takes, and a pass of the loop that receives what they say."""
ROBOTS = 2


def accept(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    response.success = True
    return response


@pytest.fixture
def searcher() -> Iterator[FleetNode]:
    """The node of `openral fleet`, in a graph with two bridges."""
    with fleet() as node:
        others = [rclpy.create_node("sim_bridge", namespace=f"/r{number}") for number in range(ROBOTS)]
        for other in others:
            other.create_service(Trigger, "estop", accept)
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


def test_looks_leave_most_of_the_time_to_what_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, looks = 0.0, 0

    def look(node: Node) -> list[str]:
        nonlocal now_s, looks
        now_s, looks = now_s + LOOK_S, looks + 1
        return ["/r0"]

    monkeypatch.setattr(fleet_stop, "deployments_in", look)
    monkeypatch.setattr(fleet_stop, "time", SimpleNamespace(monotonic=lambda: now_s))
    search = fleet_stop.Search(None)
    while now_s < 10.0:
        assert search() == ["/r0"]
        now_s += PASS_S
    assert 0.15 < looks * LOOK_S / now_s < 0.25


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


def test_a_name_that_ros_does_not_allow_keeps_nobody_from_being_stopped(
    searcher: FleetNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Node.get_service_names_and_types

    def announced(node: Node) -> list[tuple[str, list[str]]]:
        odd = [(f"{space}/estop", ["std_srvs/srv/Trigger"]) for space in ("/0", "/a b", "/a//b", "/é")]
        return [*odd, *real(node)]

    monkeypatch.setattr(Node, "get_service_names_and_types", announced)
    answers = {answer.namespace: answer.fault for answer in searcher.stop([], 1.0)}
    assert answers == {"/r0": "", "/r1": ""}
    assert set(searcher.look(0.3)) == {"/r0", "/r1"}


def test_an_answer_that_cannot_be_read_keeps_nobody_from_being_stopped(
    searcher: FleetNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any program may offer a service of this name, and send anything."""
    real = Client.call_async

    def garbled(client: Client, request: Any) -> Any:
        if client.service_name != "/r0/estop":
            return real(client, request)
        future: Future[Any] = Future()
        future.set_exception(ValueError("5 bytes are no message"))
        return future

    monkeypatch.setattr(Client, "call_async", garbled)
    answers = {answer.namespace: answer.fault for answer in searcher.stop([], 1.0)}
    assert answers == {"/r0": "its answer cannot be read: 5 bytes are no message", "/r1": ""}
    call = ServiceCall(searcher, Trigger, "/r0/estop")
    assert call() == "/r0/estop: its answer cannot be read: 5 bytes are no message"


def test_who_is_not_called_where_there_are_too_many_is_told(
    searcher: FleetNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_stop, "MAX_DEPLOYMENTS", 1)
    first, more = searcher.stop([], 1.0)
    assert (first.namespace, first.fault) == ("/r0", "")
    assert (more.namespace, more.fault[:10]) == ("1 more, from /r1 on", "not called")


def test_a_row_in_a_pipe_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "put the " + "very " * 40 + "small cup away"
    robot = LiveDeployment()
    robot.mission = mission_of(Mission(text=words))
    node = SimpleNamespace(look=lambda search_s: {"/arm2": robot})
    monkeypatch.setattr(fleet_node, "fleet", lambda: nullcontext(node))
    monkeypatch.delenv("COLUMNS", raising=False)
    for command in ("list", "status"):
        assert words in CliRunner().invoke(app, [command]).output


STRANGER = """
import rclpy
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from openral_core.ros.qos import LATCHED
rclpy.init()
bridge = rclpy.create_node("sim_bridge", namespace="/far")
bridge.create_service(Trigger, "estop", print)
bridge.create_publisher(Bool, "estop_state", LATCHED).publish(Bool(data=True))
print("ready", flush=True)
rclpy.spin(bridge)
"""
SEEN = """
from openral_console.ros.fleet_node import fleet
with fleet() as node:
    while "/far" not in (found := node.look(0.5)) or found["/far"].estopped is None:
        pass
    print(found["/far"].estopped, node.count_publishers("/far/estop_state"))
"""


def test_of_a_deployment_that_is_found_no_more_is_taken_in_than_its_stop() -> None:
    with subprocess.Popen([sys.executable, "-c", STRANGER], stdout=subprocess.PIPE, text=True) as stranger:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == "ready\n"
        seen = subprocess.run(
            [sys.executable, "-c", SEEN], check=True, capture_output=True, text=True, timeout=90
        )
        stranger.terminate()
    assert seen.stdout == "True 0\n"


def test_a_refusal_is_words_that_a_terminal_may_show(searcher: FleetNode) -> None:
    def refuse(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = "no\x1b[2J"
        return response

    node = rclpy.create_node("odd_bridge", namespace="/odd")
    node.create_service(Trigger, "estop", refuse)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    answer = searcher.stop(["/odd"], 10.0)[0]
    executor.shutdown()
    thread.join()
    node.destroy_node()
    assert answer.fault == "refused: no [2J"


def test_words_and_numbers_are_in_json_as_they_were_said() -> None:
    """A number that is none is null, words are no emoji, and a bridge that says that it is stopped is."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("odd_bridge", namespace="/odd", context=context)
    node.create_service(Trigger, "estop", accept)
    status = ControlStatus(effective_hz=float("nan"), control_hz=float("inf"), estopped=True)
    status.last_rejection = "chunk:100: out of the workspace"
    publisher = node.create_publisher(ControlStatus, "control_status", 10)
    node.create_timer(0.1, lambda: publisher.publish(status))
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    told = CliRunner().invoke(app, ["status", "/odd", "--json", "--search", "2"])
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.try_shutdown(context=context)
    robot = json.loads(told.output, parse_constant=pytest.fail)[0]
    assert (robot["doing"], robot["effective_hz"], robot["control_hz"]) == ("stopped", None, None)
    assert robot["last_rejection"] == "chunk:100: out of the workspace"
