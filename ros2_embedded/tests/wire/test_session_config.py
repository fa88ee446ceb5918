"""Who a session can find: this machine without settings, more only when told."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import rclpy
from rclpy.node import Node
from ros2_embedded.session_config import SessionConfigError, discovery_range, make_config


def _get(key: str, **environment: str) -> object:
    return json.loads(make_config(environment).get_json(key))


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"},
        {
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
            "ROS_LOCALHOST_ONLY": "1",
            "ROS_STATIC_PEERS": "10.0.0.9",
        },
    ],
)
def test_loopback_unless_told_otherwise(environment: dict[str, str]) -> None:
    assert _get("listen/endpoints", **environment) == ["tcp/127.0.0.1:0"]
    assert _get("connect/endpoints", **environment) == ["tcp/127.0.0.1:7447"]
    assert _get("scouting/multicast/interface", **environment) in ("lo", "lo0")


def test_subnet_listens_everywhere_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert _get("listen/endpoints", ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET") == ["tcp/0.0.0.0:0"]
    assert "docs/security.md" in caplog.text


def test_static_peers_and_overrides() -> None:
    peers = {"ROS_STATIC_PEERS": "10.0.0.9; robot.local:7000"}
    expected = ["tcp/127.0.0.1:7447", "tcp/10.0.0.9:7447", "tcp/robot.local:7000"]
    assert _get("connect/endpoints", **peers) == expected
    assert _get("connect/endpoints", ZENOH_CONFIG_OVERRIDE='connect/endpoints=["tcp/10.0.0.1:1"]') == [
        "tcp/10.0.0.1:1"
    ]


def test_a_file_replaces_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "session.json5"
    path.write_text('{mode: "client", /* a comment */ connect: {endpoints: ["tcp/10.0.0.2:7447"]}}')
    assert _get("mode", ZENOH_SESSION_CONFIG_URI=str(path)) == "client"


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(SessionConfigError, match="'NEAR' is none of SUBNET"):
        discovery_range({"ROS_AUTOMATIC_DISCOVERY_RANGE": "NEAR"})
    with pytest.raises(SessionConfigError, match="nowhere"):
        make_config({"ZENOH_SESSION_CONFIG_URI": str(tmp_path / "nowhere.json5")})
    with pytest.raises(SessionConfigError, match="ZENOH_CONFIG_OVERRIDE"):
        make_config({"ZENOH_CONFIG_OVERRIDE": "no/such/key=1"})


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Closes nodes and contexts."""
    with ExitStack() as stack:
        yield stack


def _join(stack: ExitStack, name: str) -> Node:
    context = stack.enter_context(rclpy.init(args=[], context=rclpy.Context()))
    return stack.enter_context(Node(name, context=context))


def test_off_finds_nobody(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    first, second = _join(stack, "first"), _join(stack, "second")
    assert not first.wait_for_node("/second", 0.5)
    assert second.get_node_names() == ["second"]


def test_a_static_peer_is_found_without_search(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.2", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    monkeypatch.setenv("ZENOH_CONFIG_OVERRIDE", f'listen/endpoints=["tcp/127.0.0.2:{port}"]')
    first = _join(stack, "first")
    monkeypatch.delenv("ZENOH_CONFIG_OVERRIDE")
    monkeypatch.setenv("ROS_STATIC_PEERS", f"127.0.0.2:{port}")
    _join(stack, "second")
    assert first.wait_for_node("/second", 20.0)


def test_a_router_joins_peers_that_cannot_search(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    router = f'mode="router";listen/endpoints=["tcp/127.0.0.1:{port}"]'
    monkeypatch.setenv("ZENOH_CONFIG_OVERRIDE", router)
    _join(stack, "router")
    monkeypatch.setenv("ZENOH_CONFIG_OVERRIDE", f'connect/endpoints=["tcp/127.0.0.1:{port}"]')
    first, second = _join(stack, "first"), _join(stack, "second")
    assert first.wait_for_node("/second", 20.0)
    assert second.wait_for_node("/first", 20.0)
