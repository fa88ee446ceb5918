"""Topics within one process: profiles, raw messages, queues, remapping, the graph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from std_msgs.msg import Int32, String
from std_srvs.srv import Trigger

import rclpy
from rclpy.context import Context
from rclpy.exceptions import (
    InvalidHandle,
    InvalidNodeNameException,
    InvalidTopicNameException,
    NotInitializedException,
    NoTypeSupportImportedException,
)
from rclpy.node import Node
from rclpy.node_graph import NodeNameNonExistentError
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.wait_for_message import wait_for_message

Spin = Callable[..., None]


def test_messages_arrive_in_order(node: Node, spin: Spin) -> None:
    heard: list[int] = []
    node.create_subscription(Int32, "numbers", lambda m: heard.append(m.data), 100)
    publisher = node.create_publisher(Int32, "numbers", 100)
    for index in range(100):
        publisher.publish(Int32(data=index))
    spin(lambda: len(heard) == 100)
    assert heard == list(range(100))


def test_a_flood_arrives_whole_and_in_order(node: Node, spin: Spin) -> None:
    """While messages come faster than the executor falls asleep, it takes them together."""
    heard: list[int] = []
    keep_all = QoSProfile(depth=1, history=HistoryPolicy.KEEP_ALL)
    node.create_subscription(Int32, "flood", lambda m: heard.append(m.data), keep_all)
    publisher = node.create_publisher(Int32, "flood", keep_all)
    sender = threading.Thread(
        target=lambda: [publisher.publish(Int32(data=index)) for index in range(20_000)]
    )
    sender.start()
    spin(lambda: len(heard) == 20_000)
    sender.join()
    assert heard == list(range(20_000))


def test_only_a_queue_with_room_waits_for_more(node: Node) -> None:
    """What has few places, and services, are served at once however quickly messages come."""
    depths = {depth: node.create_subscription(Int32, f"depth_{depth}", print, depth) for depth in (10, 100)}
    assert not depths[10].can_gather()
    assert depths[100].can_gather()
    publisher = node.create_publisher(Int32, "depth_100", 100)
    for index in range(50):
        publisher.publish(Int32(data=index))
    assert not depths[100].can_gather()
    assert not node.create_service(Trigger, "serve", print).can_gather()


def test_queue_keeps_the_newest(node: Node, spin: Spin) -> None:
    heard: list[int] = []
    node.create_subscription(Int32, "numbers", lambda m: heard.append(m.data), 2)
    publisher = node.create_publisher(Int32, "numbers", 10)
    for index in range(10):
        publisher.publish(Int32(data=index))
    spin(lambda: 9 in heard)
    assert heard == [8, 9]


def test_raw_subscription_and_raw_publisher(node: Node, spin: Spin) -> None:
    heard: list[bytes] = []
    node.create_subscription(String, "raw", heard.append, 10, raw=True)
    node.create_publisher(String, "raw", 10).publish(serialize_message(String(data="x")))
    spin(lambda: heard)
    assert deserialize_message(heard[0], String) == String(data="x")


def test_wrong_uses_are_refused(node: Node) -> None:
    publisher = node.create_publisher(String, "a", 10)
    with pytest.raises(TypeError):
        publisher.publish(Int32())
    with pytest.raises(InvalidTopicNameException):
        node.create_publisher(String, "bad name", 10)
    with pytest.raises(NoTypeSupportImportedException):
        node.create_publisher(int, "a", 10)
    with pytest.raises(TypeError):
        node.create_publisher(String, "a", "10")
    with pytest.raises(InvalidNodeNameException):
        Node("no good")
    assert node.destroy_publisher(publisher)
    with pytest.raises(InvalidHandle):
        publisher.publish(String())


def test_node_needs_init() -> None:
    with pytest.raises(NotInitializedException):
        Node("early", context=Context())


def test_graph_knows_names_types_and_profiles(node: Node) -> None:
    node.create_publisher(String, "talk", qos_profile_sensor_data)
    node.create_subscription(String, "~/private", lambda _: None, QoSProfile(depth=7))
    topics = dict(node.get_topic_names_and_types())
    assert topics["/talk"] == ["std_msgs/msg/String"]
    assert topics["/tester/private"] == ["std_msgs/msg/String"]
    info = node.get_publishers_info_by_topic("talk")[0]
    assert (info.node_name, info.topic_type) == ("tester", "std_msgs/msg/String")
    assert info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    assert info.qos_profile.depth == 5
    assert node.get_subscriptions_info_by_topic("/tester/private")[0].qos_profile.depth == 7
    with pytest.raises(NodeNameNonExistentError):
        node.get_publisher_names_and_types_by_node("nobody", "/")


def test_destroyed_node_leaves_the_graph(context: Context, node: Node) -> None:
    other = Node("other", namespace="ns")
    assert "/ns/other" in node.get_fully_qualified_node_names()
    other.create_publisher(String, "x", 1)
    other.destroy_node()
    assert "/ns/other" not in node.get_fully_qualified_node_names()
    assert node.count_publishers("/ns/x") == 0


def test_remapping_of_names() -> None:
    arguments = [
        "--ros-args",
        "-r",
        "__node:=renamed",
        "-r",
        "__ns:=/rob",
        "-r",
        "from:=to",
        "-r",
        "other:b:=c",
    ]
    with rclpy.init(args=arguments):
        node = Node("original")
        assert node.get_fully_qualified_name() == "/rob/renamed"
        assert node.get_logger().name == "rob.renamed"
        assert node.create_publisher(String, "from", 1).topic_name == "/rob/to"
        assert node.resolve_topic_name("b") == "/rob/b"
        assert node.resolve_topic_name("from", only_expand=True) == "/rob/from"


def test_wait_for_message(context: Context, node: Node) -> None:
    publisher = node.create_publisher(String, "slow", 1)
    threading.Timer(0.2, publisher.publish, [String(data="x")]).start()
    found, message = wait_for_message(String, node, "slow", time_to_wait=20.0)
    assert (found, message) == (True, String(data="x"))
    assert wait_for_message(String, node, "silent", time_to_wait=0.05) == (False, None)


def test_rosout_carries_log_messages(node: Node, spin: Spin) -> None:
    from rcl_interfaces.msg import Log

    heard: list[Any] = []
    node.create_subscription(Log, "/rosout", heard.append, 10)
    node.get_logger().get_child("part").warning("careful")
    spin(lambda: heard)
    assert (heard[0].name, heard[0].msg, heard[0].level) == ("tester.part", "careful", Log.WARN)
    assert heard[0].function == "test_rosout_carries_log_messages"


def test_a_log_message_without_end_is_cut(node: Node, spin: Spin, capfd: pytest.CaptureFixture[str]) -> None:
    from rcl_interfaces.msg import Log

    heard: list[Any] = []
    node.create_subscription(Log, "/rosout", heard.append, 10)
    node.get_logger().warning("x" * 10_000_000)
    spin(lambda: heard)
    assert heard[0].msg.endswith("xxx... (cut: 10000000 characters)")
    assert len(heard[0].msg) < 25_000
    assert len(capfd.readouterr().err) < 25_000


def test_log_filters(node: Node, capfd: pytest.CaptureFixture[str]) -> None:
    for index in range(3):
        node.get_logger().info(f"once {index}", once=True)
        node.get_logger().info(f"skip {index}", skip_first=True)
        node.get_logger().info(f"throttle {index}", throttle_duration_sec=1000.0)
        node.get_logger().debug("hidden")
    lines = [line.split("]: ")[1] for line in capfd.readouterr().err.splitlines()]
    assert lines == ["once 0", "throttle 0", "skip 1", "skip 2"]
