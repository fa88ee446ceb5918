"""What a broken or hostile peer sends must not end a node: mutated samples, requests and tokens."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import zenoh
from geometry_msgs.msg import TransformStamped
from rcl_interfaces.msg import Parameter, ParameterEvent
from sensor_msgs.msg import Image, JointState
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile
from ros2_embedded.graph import GraphCache
from ros2_embedded.rosidl.cdr_support import SerializationError
from ros2_embedded.rosidl.classes import deserialize, serialize
from ros2_embedded.session_config import open_session
from ros2_embedded.wire.keys import Attachment
from ros2_embedded.wire.qos_text import WireQoS
from ros2_embedded.wire.tokens import EndpointRecord, endpoint_token, node_token, parse_token

COUNT = 10_000
PATIENCE_S = 90.0
MESSAGES = [
    JointState(name=["a", "bb"], position=[1.0, 2.0], effort=[3.0]),
    Image(height=2, width=2, encoding="rgb8", data=bytes(12)),
    TFMessage(transforms=[TransformStamped(child_frame_id="arm"), TransformStamped()]),
    ParameterEvent(node="/n", new_parameters=[Parameter(name="x")]),
]
TOKENS = [
    node_token(0, "abc", 1, "/", "n"),
    endpoint_token(
        0,
        "abc",
        1,
        2,
        "MP",
        ("/ns", "n"),
        ("/ns/t", "std_msgs::msg::dds_::String_", "RIHS01_00"),
        WireQoS(depth=3, deadline=5),
    ),
]


def mutate_bytes(data: bytearray, random: random.Random) -> bytes:
    """Change, cut or extend a sample in a few places."""
    for _ in range(random.randint(1, 5)):
        choice = random.random()
        if choice < 0.6 and data:
            data[random.randrange(len(data))] = random.randrange(256)
        elif choice < 0.8:
            del data[random.randrange(len(data) + 1) :]
        else:
            data += random.randbytes(random.randrange(20))
    return bytes(data)


def mutate_text(text: str, random: random.Random) -> str:
    """Change, remove or insert a few characters."""
    letters = list(text)
    for _ in range(random.randint(1, 6)):
        index = random.randrange(len(letters)) if letters else 0
        choice = random.random()
        if choice < 0.4 and letters:
            letters[index] = random.choice("\0%,/:-1xé\U0001f600²")
        elif choice < 0.7 and letters:
            del letters[index]
        else:
            letters.insert(index, random.choice("/%:,-19"))
    return "".join(letters)


def test_mutated_messages_are_read_or_refused() -> None:
    source = random.Random(1)
    refused = 0
    for _ in range(COUNT):
        message: Any = source.choice(MESSAGES)
        try:
            deserialize(mutate_bytes(bytearray(serialize(message)), source), type(message))
        except SerializationError:
            refused += 1
    assert 0 < refused < COUNT


def test_mutated_tokens_are_read_or_counted(caplog: pytest.LogCaptureFixture) -> None:
    source = random.Random(2)
    graph = GraphCache()
    keys = [mutate_text(source.choice(TOKENS), source) for _ in range(COUNT)]
    with caplog.at_level(logging.WARNING):
        for key in keys:
            graph.add(key)
    for endpoint in graph.endpoints():  # what was understood can be shown
        assert isinstance(endpoint, EndpointRecord)
        rclpy.qos.QoSProfile.from_wire(endpoint.qos)
    for key in keys:
        graph.remove(key)
    assert graph.rejected == sum(parse_token(key) is None for key in keys)
    assert (len(caplog.records), graph.nodes(), graph.endpoints()) == (1, [], [])


@pytest.fixture
def node() -> Iterator[Node]:
    """A node."""
    rclpy.init(args=[])
    node = Node("victim")
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def attacker() -> Iterator[zenoh.Session]:
    """A bare session beside it."""
    _, session = open_session(int(os.environ["ROS_DOMAIN_ID"]))
    yield session
    session.close()


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


def test_a_node_survives_bad_samples(
    node: Node, attacker: zenoh.Session, spin: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    source = random.Random(3)
    good: list[Any] = []
    everything = QoSProfile(history=HistoryPolicy.KEEP_ALL, depth=0)
    subscription = node.create_subscription(JointState, "joints", good.append, everything)
    attachment = Attachment(1, time.time_ns(), bytes(16)).encode()
    key = subscription._endpoint.key
    publisher = attacker.declare_publisher(key, congestion_control=zenoh.CongestionControl.BLOCK)
    spin(lambda: publisher.matching_status.matching)
    for index in range(COUNT):
        payload = mutate_bytes(bytearray(serialize(MESSAGES[0])), source)
        beside = [attachment, mutate_bytes(bytearray(attachment), source), None][index % 3]
        publisher.put(payload, attachment=beside)
    publisher.put(bytes(serialize(JointState(name=["the last"]))), attachment=attachment)
    spin(lambda: good and good[-1].name == ["the last"])
    assert subscription.dropped_count + len(good) == COUNT + 1
    assert capfd.readouterr().err.count("dropped a message on /joints") == 1


def test_a_service_survives_bad_requests(
    node: Node, attacker: zenoh.Session, spin: Callable[..., None]
) -> None:
    source = random.Random(4)

    def answer(request: Any, response: Any) -> Any:
        response.success = True
        return response

    service = node.create_service(SetBool, "switch", answer)
    attachment = Attachment(1, time.time_ns(), bytes(16)).encode()
    replies: list[Any] = []
    querier = attacker.declare_querier(service._endpoint.key, timeout=PATIENCE_S)
    spin(lambda: querier.matching_status.matching)
    for _ in range(500):
        data = mutate_bytes(bytearray(serialize(SetBool.Request(data=True))), source)
        beside = mutate_bytes(bytearray(attachment), source)
        querier.get(replies.append, payload=data, attachment=beside)
    client = node.create_client(SetBool, "switch")
    future = client.call_async(SetBool.Request())
    spin(lambda: future.done() and service.dropped_count + len(replies) >= 500)
    assert service.dropped_count > 0
    assert future.result().success


def test_a_node_survives_bad_tokens(node: Node, attacker: zenoh.Session, spin: Callable[..., None]) -> None:
    source = random.Random(5)
    domain = node.context.get_domain_id()
    graph = node.context.session.graph
    texts = [text.replace("@ros2_lv/0/", f"@ros2_lv/{domain}/") for text in TOKENS]
    declared = []
    while len(declared) < 1000:
        try:
            declared.append(attacker.liveliness().declare_token(mutate_text(source.choice(texts), source)))
        except zenoh.ZError:  # no key expression at all: such a token cannot be sent
            continue
    spin(lambda: graph.rejected > 0 and graph.endpoints())
    node.get_topic_names_and_types()
    for name, _ in node.get_topic_names_and_types():
        if name.startswith("/"):
            assert isinstance(graph.endpoints(name=name), list)
    for token in declared:
        token.undeclare()
    spin(lambda: not any(record.session == "abc" for record in graph.nodes()))
