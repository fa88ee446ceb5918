"""What tools ask a running program: type descriptions, service events, timer information."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_interfaces.action import Fibonacci
from example_interfaces.srv import AddTwoInts
from service_msgs.msg import ServiceEventInfo
from std_msgs.msg import String
from type_description_interfaces.srv import GetTypeDescription

import rclpy
from rclpy.exceptions import NoTypeSupportImportedException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_system_default
from rclpy.service_introspection import ServiceIntrospectionState
from rclpy.timer import TimerInfo
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden
from rclpy.type_hash import TypeHash
from rclpy.type_support import check_for_type_support, check_is_valid_msg_type, check_is_valid_srv_type
from ros2_embedded.rosidl.type_hash import type_hash


def _describe(node: Node, spin: Callable[..., None], **request: Any) -> Any:
    client = node.create_client(GetTypeDescription, "~/get_type_description")
    future = client.call_async(GetTypeDescription.Request(**request))
    spin(future.done)
    return future.result()


def test_type_description(node: Node, spin: Callable[..., None]) -> None:
    name = "geometry_msgs/msg/PointStamped"
    answer = _describe(node, spin, type_name=name, type_hash=type_hash(name), include_type_sources=True)
    assert answer.successful, answer.failure_reason
    described = answer.type_description
    assert described.type_description.type_name == name
    fields = described.type_description.fields
    assert [(f.name, f.type.type_id, f.type.nested_type_name) for f in fields] == [
        ("header", 1, "std_msgs/msg/Header"),
        ("point", 1, "geometry_msgs/msg/Point"),
    ]
    names = [entry.type_name for entry in described.referenced_type_descriptions]
    assert names == ["builtin_interfaces/msg/Time", "geometry_msgs/msg/Point", "std_msgs/msg/Header"]
    assert [source.type_name for source in answer.type_sources] == [name, *names]
    assert "float64 x" in answer.type_sources[2].raw_file_contents


def test_type_description_refuses(node: Node, spin: Callable[..., None]) -> None:
    wrong = _describe(node, spin, type_name="std_msgs/msg/String", type_hash="RIHS01_00")
    assert (wrong.successful, "RIHS01_00" in wrong.failure_reason) == (False, True)
    missing = _describe(node, spin, type_name="no_msgs/msg/Such")
    assert (missing.successful, "no_msgs/msg/Such" in missing.failure_reason) == (False, True)


@pytest.mark.parametrize("name", ["", "..", "../msg/Bool", "a" * 300, f"{'a' * 70000}/msg/A", "a\0/msg/A"])
def test_what_is_no_type_is_not_described_and_does_not_end_the_node(
    node: Node, spin: Callable[..., None], name: str
) -> None:
    assert not _describe(node, spin, type_name=name).successful


def test_a_type_whose_definition_is_broken_does_not_end_the_node(
    node: Node, spin: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = tmp_path / "share"
    for folder in ("ament_index/resource_index/packages", "broken_of_its_own/msg"):
        (share / folder).mkdir(parents=True)
    (share / "ament_index/resource_index/packages/broken_of_its_own").write_text("")
    (share / "broken_of_its_own/msg/Broken.msg").write_text("no type at all = x\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    answer = _describe(node, spin, type_name="broken_of_its_own/msg/Broken")
    assert not answer.successful
    assert "Broken.msg" in answer.failure_reason


def test_type_description_can_be_switched_off(context: rclpy.Context) -> None:
    off = Parameter("start_type_description_service", value=False)
    with Node("quiet", parameter_overrides=[off]) as node:
        names = [name for name, _ in node.get_service_names_and_types_by_node("quiet", "/")]
        assert "/quiet/get_type_description" not in names
        assert "/quiet/get_parameters" in names


def _service_events(node: Node, spin: Callable[..., None], state: ServiceIntrospectionState) -> list[Any]:
    def add(request: Any, response: Any) -> Any:
        response.sum = request.a + request.b
        return response

    service = node.create_service(AddTwoInts, "add", add)
    client = node.create_client(AddTwoInts, "add")
    events: list[Any] = []
    subscription = node.create_subscription(AddTwoInts.Event, "add/_service_event", events.append, 10)
    for endpoint in (service, client):
        endpoint.configure_introspection(node.get_clock(), qos_profile_system_default, state)
    assert client.wait_for_service(20.0)
    future = client.call_async(AddTwoInts.Request(a=2, b=3))
    wanted = 0 if state is ServiceIntrospectionState.OFF else 4
    spin(lambda: future.done() and len(events) >= wanted)
    for endpoint in (subscription, service, client):
        node._rclpy_remove(endpoint)
    return sorted(events, key=lambda event: event.info.event_type)


def test_service_events(node: Node, spin: Callable[..., None]) -> None:
    events = _service_events(node, spin, ServiceIntrospectionState.CONTENTS)
    assert [event.info.event_type for event in events] == [
        ServiceEventInfo.REQUEST_SENT,
        ServiceEventInfo.REQUEST_RECEIVED,
        ServiceEventInfo.RESPONSE_SENT,
        ServiceEventInfo.RESPONSE_RECEIVED,
    ]
    assert len({(bytes(e.info.client_gid), e.info.sequence_number) for e in events}) == 1
    assert [[(r.a, r.b) for r in e.request] for e in events] == [[(2, 3)], [(2, 3)], [], []]
    assert [[r.sum for r in e.response] for e in events] == [[], [], [5], [5]]


def test_service_events_without_contents_and_off(node: Node, spin: Callable[..., None]) -> None:
    events = _service_events(node, spin, ServiceIntrospectionState.METADATA)
    assert [len(e.request) + len(e.response) for e in events] == [0, 0, 0, 0]
    assert _service_events(node, spin, ServiceIntrospectionState.OFF) == []


def test_timer_info(node: Node, spin: Callable[..., None]) -> None:
    seen: list[TimerInfo] = []
    node.create_timer(0.005, seen.append)
    spin(lambda: len(seen) >= 2)
    first, second = seen[:2]
    assert first.actual_call_time >= first.expected_call_time
    assert (second.expected_call_time - first.expected_call_time).nanoseconds % 5_000_000 == 0


def test_kinds_of_interfaces() -> None:
    check_for_type_support(String)
    check_for_type_support(AddTwoInts)
    check_is_valid_msg_type(String)
    check_is_valid_srv_type(AddTwoInts)
    with pytest.raises(NoTypeSupportImportedException):
        check_for_type_support(str)
    for check, wrong in ((check_is_valid_msg_type, AddTwoInts), (check_is_valid_srv_type, String)):
        with pytest.raises(RuntimeError):
            check(wrong)
    with pytest.raises(RuntimeError):
        check_is_valid_srv_type(Fibonacci)


def test_hidden_names() -> None:
    names = ["/chatter", "/a_b", "/_chatter", "/fibonacci/_action/status"]
    assert [topic_or_service_is_hidden(name) for name in names] == [False, False, True, True]


def test_type_hashes() -> None:
    text = type_hash("std_msgs/msg/String")
    parsed = TypeHash.from_text(text)
    assert (parsed.version, parsed.value.hex(), str(parsed)) == (1, text.partition("_")[2], text)
    assert str(TypeHash()) == str(TypeHash.from_text("TypeHashNotSupported")) == "INVALID"
    assert TypeHash() == TypeHash() != TypeHash(version=5)


def test_endpoint_information(node: Node) -> None:
    node.create_publisher(String, "chatter", 7)
    info = node.get_publishers_info_by_topic("chatter")[0]
    assert str(info.topic_type_hash) == type_hash("std_msgs/msg/String")
    lines = str(info).splitlines()
    assert lines[0] == "Node name: tester"
    assert "  History (Depth): KEEP_LAST (7)" in lines
    assert "  Lifespan: Infinite" in lines
    empty = TopicEndpointInfo(node_name="x")
    assert "Endpoint type: INVALID" in str(empty)
    assert "  Reliability: UNKNOWN" in str(empty)


def test_endpoints_know_the_logger_of_their_node(context: rclpy.Context) -> None:
    with Node("named", namespace="/here") as node:
        endpoints = [
            node.create_publisher(String, "chatter", 1),
            node.create_subscription(String, "chatter", print, 1),
            node.create_client(AddTwoInts, "add"),
            node.create_service(AddTwoInts, "add", print),
        ]
        assert {endpoint.logger_name for endpoint in endpoints} == {"here.named"}
