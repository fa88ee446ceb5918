"""A port of the twin outlives clients that are killed while they connect."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import Any

import pytest

from openral_control.safety.joint_limits import limits_of
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.fci.arm_server import ArmServer
from openral_robot_bridge.twins.fci.connection import Connection
from openral_robot_bridge.twins.fci.controller import ArmController
from openral_robot_bridge.twins.fci.wire import (
    ARM_HEADER,
    ARM_PORT,
    ARM_REPLY,
    CONNECT,
    CYCLE_S,
    FR3,
    GRIPPER_HEADER,
    GRIPPER_REPLY,
    GRIPPER_VERSION,
    ArmReply,
    Command,
)

ADDRESS = ("127.0.77.6", 13386)


def connecting(states_to: int = 9) -> socket.socket:
    """Return a client that has asked to be connected, with states to its UDP port."""
    client = socket.create_connection(ADDRESS)
    body = CONNECT.pack(GRIPPER_VERSION, states_to)
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


def test_a_client_without_a_port_for_states_is_refused() -> None:
    port = Connection(*ADDRESS, GRIPPER_VERSION, GRIPPER_HEADER, GRIPPER_REPLY)
    try:
        with connecting(states_to=0) as client:
            client.settimeout(0.01)
            answer = b""
            while not answer:
                assert port.requests() == []
                with contextlib.suppress(TimeoutError):
                    answer = client.recv(64)
            assert not port.connected
            assert GRIPPER_REPLY.unpack_from(answer, GRIPPER_HEADER.size) == (1,)
            port.send_state(b"to nobody")
    finally:
        port.close()


@pytest.mark.parametrize("command", [Command.SET_COLLISION_BEHAVIOR, Command.SET_LOAD])
@pytest.mark.parametrize("payload", [b"", b"\0" * 12, b"\0" * 2000])
def test_a_request_of_another_length_than_its_own_is_answered(command: Command, payload: bytes) -> None:
    robot = load_robot("fr3")
    arm = TwinArm(load_scene("fr3_tabletop"), robot, CYCLE_S)
    host = ADDRESS[0]
    server = ArmServer(host, ArmController(arm, limits_of(robot)), FR3, "", 0.0)
    try:
        with socket.create_connection((host, ARM_PORT)) as client:
            number = FR3.commands.index(command)
            client.sendall(ARM_HEADER.pack(number, 7, ARM_HEADER.size + len(payload)) + payload)
            client.settimeout(0.01)
            answer = b""
            while not answer:
                server.cycle()
                with contextlib.suppress(TimeoutError):
                    answer = client.recv(64)
        assert ARM_REPLY.unpack_from(answer, ARM_HEADER.size) == (ArmReply.INVALID_ARGUMENT,)
        server.cycle()
    finally:
        server.close()
