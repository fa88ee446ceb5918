"""Calls of services that answer, answer too late, never answer, or are not there."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from openral_core.ros.service_call import ServiceNotFound, ServiceTimeout, call_service

FIND_S, ANSWER_S, SOON_S = 60.0, 60.0, 0.3


class Server:
    """A node in a thread of its own, one of whose services holds its answer back until it is let go."""

    def __init__(self, node: Node) -> None:
        self.asked, self.released, self.answered = (threading.Event() for _ in range(3))
        node.create_service(SetBool, "echo", self._echo)
        node.create_service(Trigger, "silent", self._silent)

    def _echo(self, request: Any, response: Any) -> Any:
        response.success = request.data
        return response

    def _silent(self, request: Any, response: Any) -> Any:
        self.asked.set()
        self.released.wait()
        self.answered.set()
        return response


class Graph:
    """A server that is spun, and the node of a client, which is spun only when `spin` is called."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        self.context.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
        server, self.node = (rclpy.create_node(name, context=self.context) for name in ("server", "client"))
        self.server = Server(server)
        self._executors: list[SingleThreadedExecutor] = []
        self._threads: list[threading.Thread] = []
        self._spin(server)

    def spin(self) -> None:
        """Have an executor spin the client's node in another thread."""
        self._spin(self.node)

    def _spin(self, node: Node) -> None:
        executor = SingleThreadedExecutor(context=self.context)
        executor.add_node(node)

        def run() -> None:
            with contextlib.suppress(ExternalShutdownException):
                executor.spin()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._executors.append(executor)
        self._threads.append(thread)

    def close(self) -> None:
        self.server.released.set()
        self.context.try_shutdown()
        for thread in self._threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in self._threads)


@pytest.fixture
def graph() -> Iterator[Graph]:
    graph = Graph()
    yield graph
    graph.close()


@pytest.fixture(params=["spun by an executor", "spun by the call"])
def spun_here(request: pytest.FixtureRequest, graph: Graph) -> Node | None:
    """What to pass as `node`."""
    if request.param == "spun by the call":
        return graph.node
    graph.spin()
    return None


def pending(client: Any) -> list[int]:
    """Return the numbers of the calls that the client still waits for."""
    found = []
    for number in range(10):
        try:
            client.get_pending_request(number)
            found.append(number)
        except KeyError:
            pass
    return found


def test_an_answer_is_returned_and_nothing_stays_pending(graph: Graph, spun_here: Node | None) -> None:
    client = graph.node.create_client(SetBool, "echo")
    for value in (True, False, True):
        request = SetBool.Request(data=value)
        answer = call_service(client, request, find_s=FIND_S, answer_s=ANSWER_S, node=spun_here)
        assert answer.success is value
    assert pending(client) == []


def test_a_service_that_is_not_there_is_named(graph: Graph, spun_here: Node | None) -> None:
    client = graph.node.create_client(Trigger, "missing")
    with pytest.raises(ServiceNotFound, match=r"^/missing$"):
        call_service(client, Trigger.Request(), find_s=SOON_S, answer_s=ANSWER_S, node=spun_here)


def test_a_server_that_never_answers_leaves_nothing_pending(graph: Graph, spun_here: Node | None) -> None:
    client = graph.node.create_client(Trigger, "silent")
    for _ in range(2):
        with pytest.raises(ServiceTimeout, match=r"^/silent did not answer within 0\.3 s$"):
            call_service(client, Trigger.Request(), find_s=FIND_S, answer_s=SOON_S, node=spun_here)
        assert pending(client) == []
    assert graph.server.asked.wait(60)


def test_an_answer_that_comes_too_late_is_not_taken_for_that_of_the_next_call(graph: Graph) -> None:
    graph.spin()
    client = graph.node.create_client(Trigger, "silent")
    with pytest.raises(ServiceTimeout):
        call_service(client, Trigger.Request(), find_s=FIND_S, answer_s=SOON_S)
    graph.server.released.set()
    assert graph.server.answered.wait(60)
    answer = call_service(client, Trigger.Request(), find_s=FIND_S, answer_s=ANSWER_S)
    assert answer is not None
    assert pending(client) == []
