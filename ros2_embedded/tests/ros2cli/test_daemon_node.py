"""The daemon that programs start in their own process, and how they choose a node to ask."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import pytest
from example_interfaces.action import Fibonacci
from std_msgs.msg import Empty
from std_srvs.srv import Empty as EmptyService

import rclpy
import rclpy.action
from rclpy.node import Node
from ros2cli.node.daemon import DaemonNode, is_daemon_running, shutdown_daemon, spawn_daemon
from ros2cli.node.strategy import NodeStrategy

NODE = ("speaker", "/test")
TOPIC = ["/test/topic", ["std_msgs/msg/Empty"]]
SERVICE = ["/test/service", ["std_srvs/srv/Empty"]]
ACTION = ["/test/action", ["example_interfaces/action/Fibonacci"]]


@pytest.fixture(scope="module", autouse=True)
def node() -> Iterator[Node]:
    """A node with one entity of every kind."""
    rclpy.init()
    made = rclpy.create_node(NODE[0], namespace=NODE[1])
    made.create_publisher(Empty, "topic", 1)
    made.create_subscription(Empty, "topic", lambda _: None, 1)
    made.create_service(EmptyService, "service", lambda _, response: response)
    made.create_client(EmptyService, "service")
    entities = (
        rclpy.action.ActionServer(made, Fibonacci, "action", lambda _: Fibonacci.Result()),
        rclpy.action.ActionClient(made, Fibonacci, "action"),
    )
    yield made
    for entity in entities:
        entity.destroy()
    made.destroy_node()
    rclpy.shutdown()


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonNode]:
    """The daemon of this process."""
    assert spawn_daemon(args=[], timeout=5.0)
    with DaemonNode(args=[]) as asked:
        yield asked
        asked.system.shutdown()


@pytest.mark.parametrize(
    ("question", "arguments", "expected"),
    [
        ("get_node_names_and_namespaces", (), list(NODE)),
        ("get_node_names_and_namespaces_with_enclaves", (), [*NODE, "/"]),
        ("get_topic_names_and_types", (), TOPIC),
        ("get_service_names_and_types", (), SERVICE),
        ("get_action_names_and_types", (), ACTION),
        ("get_publisher_names_and_types_by_node", NODE, TOPIC),
        ("get_client_names_and_types_by_node", NODE, SERVICE),
        ("get_action_server_names_and_types_by_node", NODE, ACTION),
    ],
)
def test_answers_are_lists(
    daemon: DaemonNode, question: str, arguments: tuple[str, ...], expected: list[Any]
) -> None:
    assert expected in getattr(daemon, question)(*arguments)


def test_it_has_a_name_and_counts(daemon: DaemonNode) -> None:
    assert daemon.connected
    assert "daemon" in daemon.get_name()
    (publisher,) = daemon.get_publishers_info_by_topic(TOPIC[0])
    assert (publisher.node_name, publisher.node_namespace) == NODE
    assert daemon.count_subscribers(TOPIC[0]) == 1
    assert not hasattr(daemon, "create_publisher")


def test_strategy_starts_the_daemon_for_the_next_one() -> None:
    shutdown_daemon()
    try:
        with NodeStrategy(argparse.Namespace()) as first:
            assert first.daemon_node is None
            assert NODE in first.get_node_names_and_namespaces()
        assert is_daemon_running()
        with NodeStrategy(argparse.Namespace()) as second:
            assert list(NODE) in second.get_node_names_and_namespaces()
            assert "daemon" not in second.direct_node.get_name()
        with NodeStrategy(argparse.Namespace(no_daemon=True)) as alone:
            assert alone.daemon_node is None
    finally:
        shutdown_daemon()
    with pytest.raises(ConnectionRefusedError, match="spawn_daemon"):
        DaemonNode([]).get_name()
