"""ros2 multicast receive."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...multicast import DEFAULT_GROUP, DEFAULT_PORT, port_number, receive, seconds
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("--group", default=DEFAULT_GROUP, help="the group's address")
    parser.add_argument("--port", type=port_number, default=DEFAULT_PORT, help="the port")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="give up after so long")


def main(args: argparse.Namespace) -> int:
    """Wait for one packet and print it."""
    write("Waiting for UDP multicast datagram...\n")
    try:
        data, (host, port) = receive(group=args.group, port=args.port, timeout=args.timeout)
    except TimeoutError:
        raise CliError(f"no packet came to {args.group}:{args.port} within {args.timeout:g} s") from None
    except OSError as error:
        raise CliError(f"cannot join {args.group}:{args.port}: {error.strerror or error}") from error
    write(f"Received from {host}:{port}: {data.decode('utf-8', 'replace')!r}\n")
    return 0
