"""Whom a session can find: those of its user without settings, more only when told."""

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
from ros2_embedded.local_links import LocalEndpoints
from ros2_embedded.loopback import own_listener
from ros2_embedded.session_config import (
    SessionConfigError,
    discovery_range,
    domain_id,
    make_config,
    open_session,
    settings,
)


def _get(key: str, **environment: str) -> object:
    return json.loads(make_config(environment).get_json(key))


LOCAL = LocalEndpoints(("unixsock-stream//run/own.sock",), ("unixsock-stream//run/other.sock",))


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"},
        {
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
            "ROS_LOCALHOST_ONLY": "1",
            "ROS_STATIC_PEERS": "10.0.0.9",
        },
    ],
)
def test_a_session_belongs_to_its_user_unless_told_otherwise(environment: dict[str, str]) -> None:
    chosen = settings(environment, LOCAL, is_own=lambda port: False)
    assert chosen["listen/endpoints"] == list(LOCAL.listen)
    assert chosen["connect/endpoints"] == list(LOCAL.connect)
    assert chosen["scouting/multicast/enabled"] is False


def test_a_router_of_the_same_user_is_used() -> None:
    (router,) = settings({}, LocalEndpoints(), is_own=lambda port: port == 7447)["connect/endpoints"]
    assert router.startswith("tcp/127.0.0.1:7447#")


def test_who_listens_on_a_port_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert own_listener(port)
    assert not own_listener(port)


def test_localhost_uses_a_port_and_lets_nothing_in_but_on_loopback() -> None:
    local = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    assert _get("listen/endpoints", **local) == ["tcp/127.0.0.1:0"]
    assert _get("connect/endpoints", **local) == ["tcp/127.0.0.1:7447"]
    assert _get("scouting/multicast/enabled", **local) is False
    assert _get("access_control/default_permission", **local) == "deny"


def test_off_opens_a_port_only_for_peers_that_are_named() -> None:
    off = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}
    assert _get("listen/endpoints", **off) == []
    assert _get("connect/endpoints", **off) == []
    override = {"ZENOH_CONFIG_OVERRIDE": 'connect/endpoints=["tcp/127.0.0.2:1"]'}
    for peers in ({"ROS_STATIC_PEERS": "127.0.0.2"}, override):
        assert _get("listen/endpoints", **off, **peers) == ["tcp/127.0.0.1:0"]
    given = {"ZENOH_CONFIG_OVERRIDE": 'listen/endpoints=["tcp/127.0.0.2:7000"]'}
    assert _get("listen/endpoints", **off, **given) == ["tcp/127.0.0.2:7000"]


def test_only_the_links_that_were_asked_for_are_used() -> None:
    config = make_config({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}, LOCAL)
    assert json.loads(config.get_json("transport/link/protocols")) in (
        ["unixsock-stream"],
        ["tcp", "unixsock-stream"],  # where somebody runs a router on this machine
    )


def test_subnet_listens_everywhere_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert _get("listen/endpoints", ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET") == ["tcp/0.0.0.0:0"]
    assert "docs/security.md" in caplog.text


def test_static_peers_and_overrides(caplog: pytest.LogCaptureFixture) -> None:
    peers = {"ROS_STATIC_PEERS": "10.0.0.9; robot.local:7000", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    expected = ["tcp/127.0.0.1:7447", "tcp/10.0.0.9:7447", "tcp/robot.local:7000"]
    with caplog.at_level(logging.WARNING):
        assert _get("connect/endpoints", **peers) == expected
    assert "docs/security.md" in caplog.text
    assert _get("connect/endpoints", ZENOH_CONFIG_OVERRIDE='connect/endpoints=["tcp/10.0.0.1:1"]') == [
        "tcp/10.0.0.1:1"
    ]


def test_static_peers_of_ipv6_have_brackets_and_a_port() -> None:
    peers = "fe80::1;[fe80::2];[fe80::3]:7000;10.0.0.9:7001"
    assert _get("connect/endpoints", ROS_STATIC_PEERS=peers)[-4:] == [
        "tcp/[fe80::1]:7447",
        "tcp/[fe80::2]:7447",
        "tcp/[fe80::3]:7000",
        "tcp/10.0.0.9:7001",
    ]


def test_a_certificate_that_an_override_names_is_looked_at_before_the_session_opens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZENOH_CONFIG_OVERRIDE", 'transport/link/tls/connect_certificate="/nowhere.pem"')
    with pytest.raises(SessionConfigError, match=r"no session is opened: certificate /nowhere\.pem"):
        open_session(0)


def test_a_file_replaces_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "session.json5"
    path.write_text('{mode: "client", /* a comment */ connect: {endpoints: ["tcp/10.0.0.2:7447"]}}')
    assert _get("mode", ZENOH_SESSION_CONFIG_URI=str(path)) == "client"


@pytest.mark.parametrize(
    ("environment", "patience_ms"),
    [
        ({}, 3000),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, 3000),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, 10_000),
        ({"ROS_STATIC_PEERS": "10.0.0.1"}, 10_000),
    ],
)
def test_a_process_that_hangs_is_not_waited_for_as_a_network_is(
    environment: dict[str, str], patience_ms: int
) -> None:
    assert _get("transport/unicast/open_timeout", **environment) == patience_ms


@pytest.mark.parametrize("wrong", ["abc", "-1", "233", "1.0", "٣", "9" * 5000])
def test_what_is_no_domain_is_named(wrong: str) -> None:
    with pytest.raises(SessionConfigError, match=r"ROS_DOMAIN_ID='.*' is no number from 0 to 232; set one"):
        domain_id({"ROS_DOMAIN_ID": wrong})


def test_a_domain_is_read() -> None:
    read = [domain_id({"ROS_DOMAIN_ID": text}) for text in ("", "0", "007", "232")]
    assert [domain_id({}), *read] == [0, 0, 0, 7, 232]


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
