"""A port of the twin outlives clients that are killed while they connect."""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

import pytest

from openral_robot_bridge.twins.fci.connection import Connection
from openral_robot_bridge.twins.fci.wire import CONNECT, GRIPPER_HEADER, GRIPPER_REPLY, GRIPPER_VERSION

ADDRESS = ("127.0.77.6", 13386)


def connecting() -> socket.socket:
    """Return a client that has asked to be connected."""
    client = socket.create_connection(ADDRESS)
    body = CONNECT.pack(GRIPPER_VERSION, 9)
    client.sendall(GRIPPER_HEADER.pack(0, 1, GRIPPER_HEADER.size + len(body)) + body)
    return client


def serve_until_connected(port: Connection) -> None:
    deadline = time.monotonic() + 20.0
    while not port.connected and time.monotonic() < deadline:
        assert port.requests() == []


def test_a_client_that_is_killed_while_it_is_answered_makes_room_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = Connection(*ADDRESS, GRIPPER_VERSION, GRIPPER_HEADER, GRIPPER_REPLY)
    killed, answer = connecting(), port.answer

    def then_killed(*arguments: Any) -> None:
        answer(*arguments)
        # A reset, as of a process that was killed with data on the way.
        killed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        killed.close()

    try:
        with monkeypatch.context() as patched:
            patched.setattr(port, "answer", then_killed)
            port.requests()
        assert not port.connected
        with connecting():
            serve_until_connected(port)
            assert port.connected
    finally:
        port.close()
