"""UDP multicast, to try whether a network lets it through."""

from __future__ import annotations

import argparse
import socket
import struct

DEFAULT_GROUP = "225.0.0.1"
DEFAULT_PORT = 49150
_LARGEST = 65535


def port_number(text: str) -> int:
    """Return a port, for `argparse`."""
    return _whole(text, 65535)


def time_to_live(text: str) -> int:
    """Return a number of routers, for `argparse`."""
    return _whole(text, 255)


def seconds(text: str) -> float:
    """Return a time to wait [s], for `argparse`."""
    value = float(text)
    if not 0.0 < value < 1e9:
        raise argparse.ArgumentTypeError("value must be a number of seconds above 0 and below 1e9")
    return value


def _whole(text: str, largest: int) -> int:
    value = int(text)
    if not 0 <= value <= largest:
        raise argparse.ArgumentTypeError(f"value must be a whole number from 0 to {largest}")
    return value


def send(
    data: bytes, *, group: str = DEFAULT_GROUP, port: int = DEFAULT_PORT, ttl: int | None = None
) -> None:
    """Send one datagram to a group; `ttl` is how many routers it may pass."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDP) as sender:
        if ttl is not None:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, struct.pack("B", ttl))
        sender.sendto(data, (group, port))


def receive(
    *, group: str = DEFAULT_GROUP, port: int = DEFAULT_PORT, timeout: float | None = None
) -> tuple[bytes, tuple[str, int]]:
    """Return the next datagram that comes to a group, and who sent it.

    Args:
        group: the group's address.
        port: the port.
        timeout: how long to wait [s], for ever without.

    Raises:
        TimeoutError: nothing came in time.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDP) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        receiver.bind(("", port))
        membership = struct.pack("4sl", socket.inet_aton(group), socket.INADDR_ANY)
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        receiver.settimeout(timeout)
        data, sender = receiver.recvfrom(_LARGEST)
        return data, sender
