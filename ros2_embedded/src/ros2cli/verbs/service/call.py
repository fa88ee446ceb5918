"""ros2 service call."""

from __future__ import annotations

import argparse
import time

from ...common_arguments import positive
from ...interfaces import fill, load
from ...node import cli_node, full_name
from ...services import await_server, call
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("service", help="name of the service")
    parser.add_argument("service_type", help="its type, such as std_srvs/srv/Trigger")
    parser.add_argument("values", nargs="?", default="{}", help="the request as YAML, such as '{a: 1, b: 2}'")
    parser.add_argument(
        "-r", "--rate", type=positive("rate"), metavar="HZ", help="call again and again at this rate"
    )
    parser.add_argument(
        "--timeout", type=float, metavar="S", help="give up after so long; wait for ever by default"
    )


def main(args: argparse.Namespace) -> int:
    """Call a service and print its answer."""
    service_type = load("srv", args.service_type)
    request = fill(service_type.Request(), args.values)
    with cli_node() as node:
        client = node.create_client(service_type, full_name(args.service))
        if not client.service_is_ready():
            write("waiting for service to become available...\n")
            await_server(node, client, args.timeout)
        while True:
            write(f"requester: making request: {request!r}\n\n")
            write(f"response:\n{call(node, client, request, args.timeout)!r}\n\n")
            if args.rate is None:
                return 0
            time.sleep(1.0 / args.rate)
