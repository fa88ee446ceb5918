"""Both directions with zenoh-ros2-sdk, in another process: topics, services, latched data, the graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_interfaces.srv import AddTwoInts
from sensor_msgs.msg import Image
from std_msgs.msg import String

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros2_embedded.rosidl.type_hash import type_hash

pytestmark = pytest.mark.skipif(
    find_spec("zenoh_ros2_sdk") is None, reason="zenoh-ros2-sdk, the independent peer, is not installed"
)
PEER = Path(__file__).parent / "sdk_peer.py"
PATIENCE_S = 90.0
# The SDK knows no Unix sockets: both sides are told to find each other on loopback.
DISCOVERY = 'scouting/multicast/enabled=true;scouting/multicast/interface="lo";scouting/delay=20'


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """A node in a namespace."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ZENOH_CONFIG_OVERRIDE", DISCOVERY)
    rclpy.init(args=[])
    node = Node("embedded", namespace="/ours")
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def spin(node: Node) -> Iterator[Callable[..., None]]:
    """Spin until a predicate holds."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def until(predicate: Callable[[], Any]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not predicate():
            assert time.monotonic() < end, "what was waited for did not happen"
            executor.spin_once(timeout_sec=0.05)

    yield until
    executor.shutdown()


class Peer:
    """The other process; `heard` grows while it talks."""

    def __init__(self, role: str) -> None:
        """Start it and wait until it is ready."""
        environment = {**os.environ, "ZENOH_CONFIG_OVERRIDE": DISCOVERY}
        self.process = subprocess.Popen(
            [sys.executable, str(PEER), role],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self._rest = b""
        self.lines: list[Any] = []
        end = time.monotonic() + PATIENCE_S
        while "ready" not in self.heard():
            assert time.monotonic() < end, "the peer did not start"
            time.sleep(0.02)

    def heard(self) -> list[Any]:
        """All it has printed."""
        assert self.process.stdout is not None
        self._rest += self.process.stdout.read() or b""
        *complete, self._rest = self._rest.split(b"\n")
        self.lines += [json.loads(line) for line in complete]
        return self.lines


@pytest.fixture
def peer() -> Iterator[Callable[[str], Peer]]:
    """Start a peer with a role."""
    started: list[Peer] = []

    def start(role: str) -> Peer:
        started.append(Peer(role))
        return started[-1]

    yield start
    for other in started:
        other.process.kill()
        other.process.communicate()


def test_it_hears_us(node: Node, spin: Callable[..., None], peer: Callable[[str], Peer]) -> None:
    text = node.create_publisher(String, "text", 10)
    image = node.create_publisher(Image, "image", 10)
    other = peer("listen")
    spin(lambda: text.get_subscription_count() and image.get_subscription_count())
    text.publish(String(data="grüße"))
    message = Image(height=2, width=3, encoding="mono8", step=3, data=np.arange(6, dtype=np.uint8))
    message.header.frame_id = "camera"
    image.publish(message)
    spin(lambda: len(other.heard()) >= 3)
    assert sorted(map(str, other.lines[1:])) == sorted(["grüße", str(["camera", 2, 3, 15])])


def test_we_hear_it(node: Node, spin: Callable[..., None], peer: Callable[[str], Peer]) -> None:
    peer("talk")
    texts: list[str] = []
    infos: list[Any] = []
    node.create_subscription(
        String, "/theirs/text", lambda m, info: (texts.append(m.data), infos.append(info)), 10
    )
    spin(lambda: len(texts) >= 3)
    numbers = [int(text.split()[1]) for text in texts]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert abs(infos[0]["received_timestamp"] - infos[0]["source_timestamp"]) < 10e9
    assert node.get_publishers_info_by_topic("/theirs/text")[0].node_name == "sdk_talker"


def test_it_calls_us(node: Node, spin: Callable[..., None], peer: Callable[[str], Peer]) -> None:
    def add(request: Any, response: Any) -> Any:
        response.sum = request.a + request.b
        return response

    node.create_service(AddTwoInts, "add", add)
    other = peer("call")
    spin(lambda: 42 in other.heard())


def test_we_call_it(node: Node, spin: Callable[..., None], peer: Callable[[str], Peer]) -> None:
    peer("serve")
    client = node.create_client(AddTwoInts, "/theirs/add")
    assert client.wait_for_service(PATIENCE_S)
    futures = [client.call_async(AddTwoInts.Request(a=value, b=1)) for value in range(5)]
    spin(lambda: all(future.done() for future in futures))
    assert [future.result().sum for future in futures] == [1, 2, 3, 4, 5]


def test_it_gets_latched_messages(node: Node, spin: Callable[..., None], peer: Callable[[str], Peer]) -> None:
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, "/latched", latched)
    publisher.publish(String(data="old"))
    publisher.publish(String(data="kept"))
    other = peer("latched")
    spin(lambda: "kept" in other.heard())
    assert "old" not in other.lines


def test_it_sees_us_in_the_graph(node: Node, spin: Callable[..., None], peer: Callable[[str], Peer]) -> None:
    node.create_publisher(String, "text", QoSProfile(depth=7))
    node.create_service(AddTwoInts, "add", lambda request, response: response)
    other = peer("look")
    spin(lambda: len(other.heard()) >= 2)
    seen = other.lines[1]
    assert seen["types"] == ["std_msgs/msg/String"]
    assert seen["node"] == ["/ours", "embedded"]
    assert seen["hash"] == type_hash("std_msgs/msg/String")
    assert seen["qos"] == "::,7:,:,:,,"
    assert (seen["services"], seen["servers"]) == (["example_interfaces/srv/AddTwoInts"], 1)
