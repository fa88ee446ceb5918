"""ros2 multicast send."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...multicast import DEFAULT_GROUP, DEFAULT_PORT, port_number, send, time_to_live
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("--group", default=DEFAULT_GROUP, help="the group's address")
    parser.add_argument("--port", type=port_number, default=DEFAULT_PORT, help="the port")
    parser.add_argument("--ttl", type=time_to_live, metavar="N", help="how many routers the packet may pass")


def main(args: argparse.Namespace) -> int:
    """Send one packet."""
    write("Sending one UDP multicast datagram...\n")
    try:
        send(b"Hello World!", group=args.group, port=args.port, ttl=args.ttl)
    except OSError as error:
        raise CliError(f"cannot send to {args.group}:{args.port}: {error.strerror or error}") from error
    return 0
