"""Parameters of another node: client, event handler, QoS overrides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rcl_interfaces.msg import ParameterDescriptor, ParameterEvent
from std_msgs.msg import String

import rclpy
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.parameter_event_handler import ParameterEventHandler
from rclpy.qos import HistoryPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import InvalidQosOverridesError, QosCallbackResult, QoSOverridingOptions
from rclpy.task import Future

PATIENCE_S = 90.0


@pytest.fixture
def remote(node: Node, threaded: Executor) -> Node:
    """A second node with parameters, spun with the first."""
    other = Node("remote", namespace="/there")
    other.declare_parameter("gain", 1.5)
    other.declare_parameter("group.name", "arm")
    other.declare_parameter("free", 1, ParameterDescriptor(dynamic_typing=True))
    threaded.add_node(other)
    return other


def _answer(future: Future[Any]) -> Any:
    assert future.wait(PATIENCE_S)
    return future.result()


def test_client_reads_and_sets(node: Node, remote: Node) -> None:
    client = AsyncParameterClient(node, "/there/remote")
    assert client.wait_for_services(PATIENCE_S)
    assert client.services_are_ready()
    assert "group.name" in _answer(client.list_parameters()).result.names
    assert _answer(client.list_parameters(["group"], 2)).result.names == ["group.name"]
    assert [value.type for value in _answer(client.get_parameters(["gain"])).values] == [3]
    assert _answer(client.get_parameters(["gain", "missing"])).values == []  # all or nothing, as in rclpy
    assert list(_answer(client.get_parameter_types(["gain"])).types) == [3]
    assert _answer(client.describe_parameters(["gain"])).descriptors[0].name == "gain"
    results = _answer(
        client.set_parameters([Parameter("gain", value=2.0), Parameter("gain", value="x").to_parameter_msg()])
    ).results
    assert [result.successful for result in results] == [True, False]
    both = [Parameter("gain", value=3.0), Parameter("group.name", value=1)]
    assert not _answer(client.set_parameters_atomically(both)).result.successful
    assert remote.get_parameter("gain").value == 2.0


def test_questions_for_what_is_not_there_are_logged_once(
    node: Node, remote: Node, capfd: pytest.CaptureFixture[str]
) -> None:
    client = AsyncParameterClient(node, "/there/remote")
    assert client.wait_for_services(PATIENCE_S)
    for number in range(3):
        assert not _answer(client.get_parameters([f"missing{number}"])).values
    logged = capfd.readouterr().err
    assert logged.count("Failed to get parameters") == 1
    assert "missing0" in logged


def test_client_deletes_and_calls_back(node: Node, remote: Node) -> None:
    client = AsyncParameterClient(node, "/there/remote")
    assert client.wait_for_services(PATIENCE_S)
    seen: list[Any] = []
    future = client.delete_parameters(["free"], callback=seen.append)
    assert _answer(future).results[0].successful
    done: Future[None] = Future()
    future.add_done_callback(lambda _: done.set_result(None))
    assert done.wait(PATIENCE_S)
    assert seen == [future]
    assert not remote.has_parameter("free")
    refused = _answer(client.delete_parameters(["gain"])).results[0]
    assert (refused.successful, refused.reason) == (False, "Static parameter cannot be undeclared")
    assert remote.get_parameter("gain").value == 1.5


def test_client_loads_files(node: Node, remote: Node, tmp_path: Path) -> None:
    client = AsyncParameterClient(node, "/there/remote")
    assert client.wait_for_services(PATIENCE_S)
    path = tmp_path / "parameters.yaml"
    path.write_text(
        "/**:\n  ros__parameters: {gain: 4.0}\n/there/remote:\n  ros__parameters: {group: {name: leg}}\n"
    )
    assert len(_answer(client.load_parameter_file(str(path))).results) == 1
    assert (remote.get_parameter("gain").value, remote.get_parameter("group.name").value) == (1.5, "leg")
    assert _answer(client.load_parameter_file_atomically(str(path), use_wildcard=True)).result.successful
    assert remote.get_parameter("gain").value == 4.0


def test_client_without_server(node: Node) -> None:
    client = AsyncParameterClient(node, "nobody")
    assert not client.wait_for_services(0.05)
    assert not client.services_are_ready()


def test_event_handler(node: Node, spin: Callable[..., None]) -> None:
    other = Node("remote")
    other.declare_parameter("gain", 1)
    handler = ParameterEventHandler(node)
    values: list[tuple[str, int]] = []
    events: list[Any] = []

    def note(name: str) -> Callable[[Any], None]:
        return lambda parameter: values.append((name, parameter.value.integer_value))

    first = handler.add_parameter_callback("gain", "/remote", note("first"))
    handler.add_parameter_callback("gain", "remote", note("second"))
    whole = handler.add_parameter_event_callback(events.append)
    spin(lambda: other.count_subscribers("/parameter_events"))
    other.set_parameters([Parameter("gain", value=2)])
    spin(lambda: len(values) == 2 and events)
    assert values == [("second", 2), ("first", 2)]
    assert [p.name for p in handler.get_parameters_from_event(events[-1])] == ["gain"]
    handler.remove_parameter_callback(first)
    with pytest.raises(RuntimeError):
        handler.remove_parameter_callback(first)
    handler.remove_parameter_event_callback(whole)
    with pytest.raises(RuntimeError):
        handler.remove_parameter_event_callback(whole)
    other.set_parameters([Parameter("gain", value=3)])
    spin(lambda: len(values) == 3)
    assert values[-1] == ("second", 3)
    handler.destroy()
    other.destroy_node()


def test_event_handler_filters_nodes(node: Node) -> None:
    handler = ParameterEventHandler(node)
    seen: list[str] = []
    handler.add_parameter_event_callback(lambda event: seen.append(event.node))
    assert handler.configure_nodes_filter(["wanted"])
    for name in ("/wanted", "/other"):
        handler._callbacks.event_callback(ParameterEvent(node=name))
    assert seen == ["/wanted"]
    assert handler.configure_nodes_filter()
    handler._callbacks.event_callback(ParameterEvent(node="/other"))
    assert seen == ["/wanted", "/other"]


def test_value_from_event_is_of_one_node_and_name() -> None:
    event = ParameterEvent(node="/a", changed_parameters=[Parameter("x", value=1).to_parameter_msg()])
    assert ParameterEventHandler.get_parameter_from_event(event, "x", "/a").value.integer_value == 1
    assert ParameterEventHandler.get_parameter_from_event(event, "x", "/b") is None
    assert ParameterEventHandler.get_parameter_from_event(event, "y", "/a") is None


def test_qos_overrides(context: rclpy.Context) -> None:
    chosen = {
        "qos_overrides./chatter.publisher_left.depth": 3,
        "qos_overrides./chatter.publisher_left.reliability": "best_effort",
        "qos_overrides./chatter.publisher_left.deadline": 5,
    }
    node = Node("overridden", parameter_overrides=[Parameter(k, value=v) for k, v in chosen.items()])
    kinds = (
        QoSPolicyKind.DEPTH,
        QoSPolicyKind.RELIABILITY,
        QoSPolicyKind.DEADLINE,
        QoSPolicyKind.HISTORY,
    )
    original = QoSProfile(depth=10)
    publisher = node.create_publisher(
        String,
        "chatter",
        original,
        qos_overriding_options=QoSOverridingOptions(kinds, entity_id="left"),
    )
    profile = publisher.qos_profile
    assert (profile.depth, profile.reliability) == (3, ReliabilityPolicy.BEST_EFFORT)
    assert (profile.deadline.nanoseconds, profile.history) == (5, HistoryPolicy.KEEP_LAST)
    assert original.depth == 10
    name = "qos_overrides./chatter.publisher_left.depth"
    assert not node.set_parameters([Parameter(name, value=1)])[0].successful
    node.destroy_node()


def test_qos_override_refused(context: rclpy.Context) -> None:
    wrong = Parameter("qos_overrides./chatter.subscription.reliability", value="perfect")
    node = Node("overridden", parameter_overrides=[wrong])
    options = QoSOverridingOptions.with_default_policies()
    with pytest.raises(InvalidQosOverridesError, match="perfect"):
        node.create_subscription(String, "chatter", print, 1, qos_overriding_options=options)
    refusal = QosCallbackResult(successful=False, reason="too shallow")
    picky = QoSOverridingOptions.with_default_policies(callback=lambda qos: refusal)
    with pytest.raises(InvalidQosOverridesError, match="too shallow"):
        node.create_publisher(String, "chatter", 1, qos_overriding_options=picky)
    node.destroy_node()
