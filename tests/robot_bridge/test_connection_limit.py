"""Servers of a robot's wires keep no more connections open than they are made for, and say so once."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
import pytest

from openral_robot_bridge.connection_limit import ConnectionLimit
from openral_robot_bridge.ros1 import node, rpc
from openral_robot_bridge.ros1.messages import Ros1Error
from openral_robot_bridge.twins import camera_server

MOST = 3
ASKS = b"GET /front.mjpg HTTP/1.0\r\n\r\n"


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def connect(opened: ExitStack) -> Callable[[int], socket.socket]:
    def to(port: int) -> socket.socket:
        return opened.enter_context(socket.create_connection(("127.0.0.1", port), 20.0))

    return to


def is_refused(connection: socket.socket) -> bool:
    """Return whether the server closes a connection without a word."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_camera_has_a_bounded_number_of_readers_and_room_when_one_leaves(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    opened: ExitStack,
    connect: Callable[[int], socket.socket],
) -> None:
    monkeypatch.setattr(camera_server, "MAX_READERS", MOST)
    server = opened.enter_context(closing(camera_server.CameraServer("127.0.0.1", 0, ["front"])))
    image = np.zeros((8, 8, 3), np.uint8)
    readers = [connect(server.port) for _ in range(MOST)]
    for reader in readers:
        reader.sendall(ASKS)
        assert reader.recv(4) == b"HTTP"
    assert is_refused(connect(server.port))
    assert is_refused(connect(server.port))
    [told] = caplog.messages
    assert told.startswith(
        f"cameras at 127.0.0.1:{server.port}: {MOST} connections are open, and further ones"
    )
    readers[0].close()

    def is_let_in() -> bool:
        server.show("front", image)
        reader = connect(server.port)
        try:
            reader.sendall(ASKS)
            return reader.recv(4) == b"HTTP"
        except OSError:
            return False

    until(is_let_in)


def test_an_rpc_server_has_a_bounded_number_of_connections(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    opened: ExitStack,
    connect: Callable[[int], socket.socket],
) -> None:
    monkeypatch.setattr(rpc, "MAX_CONNECTIONS", MOST)
    server = opened.enter_context(closing(rpc.RpcServer("127.0.0.1", 0, {"f": lambda: (rpc.SUCCESS, "", 7)})))
    port = int(server.uri.rstrip("/").rpartition(":")[2])
    idle = [connect(port) for _ in range(MOST)]
    assert is_refused(connect(port))
    assert len(caplog.messages) == 1
    idle[0].close()

    def is_answered() -> bool:
        try:
            return bool(rpc.call(server.uri, "f") == 7)
        except Ros1Error:
            return False

    until(is_answered)


def test_a_connection_without_a_request_is_closed(
    monkeypatch: pytest.MonkeyPatch, opened: ExitStack, connect: Callable[[int], socket.socket]
) -> None:
    monkeypatch.setattr(rpc._RpcHandler, "timeout", 0.1)
    server = opened.enter_context(closing(rpc.RpcServer("127.0.0.1", 0, {})))
    assert is_refused(connect(int(server.uri.rstrip("/").rpartition(":")[2])))


def test_a_node_has_a_bounded_number_of_subscribers(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    opened: ExitStack,
    connect: Callable[[int], socket.socket],
) -> None:
    monkeypatch.setattr(node, "MAX_SUBSCRIBERS", MOST)
    types: Any = None
    talker = opened.enter_context(closing(node.Ros1Node("talker", "127.0.0.1:1", types)))
    silent = [connect(talker._port) for _ in range(MOST)]
    assert is_refused(connect(talker._port))
    assert len(caplog.messages) == 1
    assert f"topics of ROS 1 at 127.0.0.1:{talker._port}" in caplog.messages[0]
    assert silent


def test_connections_that_are_counted_elsewhere_take_up_room() -> None:
    limit = ConnectionLimit(2, "here")
    assert not limit.enter(beside=2)
    assert limit.enter(beside=1)
    assert not limit.enter(beside=1)
    limit.leave()
    assert limit.enter(beside=1)
