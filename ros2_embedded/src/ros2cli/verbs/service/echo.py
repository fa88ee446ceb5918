"""ros2 service echo."""

from __future__ import annotations

import argparse
from typing import Any

from ...errors import CliError
from ...interfaces import load
from ...message_text import add_format_arguments, format_message
from ...node import DISCOVERY_TIMEOUT_S, cli_node, full_name, wait_for
from ...topics import spin, write

_CLIENT_EVENTS = (0, 3)  # REQUEST_SENT, RESPONSE_RECEIVED of service_msgs/msg/ServiceEventInfo
_SERVER_EVENTS = (1, 2)
_EVENT_NAMES = {0: "REQUEST_SENT", 1: "REQUEST_RECEIVED", 2: "RESPONSE_SENT", 3: "RESPONSE_RECEIVED"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("service", help="name of a service whose introspection is configured")
    parser.add_argument(
        "service_type", nargs="?", help="its type, such as std_srvs/srv/Trigger; the service's by default"
    )
    add_format_arguments(parser)
    parser.add_argument("--once", action="store_true", help="print one event and end")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--client-only", action="store_true", help="print what happens at clients only")
    only.add_argument("--server-only", action="store_true", help="print what happens at servers only")


def main(args: argparse.Namespace) -> int:
    """Print the requests and responses of a service."""
    from rclpy.qos import qos_profile_system_default
    from rclpy.service_introspection import EVENT_TOPIC_POSTFIX

    service = full_name(args.service)
    received = 0

    def take(event: Any) -> None:
        nonlocal received
        skipped = _SERVER_EVENTS if args.client_only else _CLIENT_EVENTS if args.server_only else ()
        if event.info.event_type in skipped or (args.once and received):
            return
        received += 1
        write(format_message(event, args, {("info", "event_type"): _EVENT_NAMES}))

    with cli_node() as node:
        service_type = load("srv", args.service_type or _type_of(node, service))
        topic = f"{service}{EVENT_TOPIC_POSTFIX}"
        node.create_subscription(service_type.Event, topic, take, qos_profile_system_default)
        spin(node, lambda: args.once and received > 0)
    return 0


def _type_of(node: Any, service: str) -> str:
    found: list[str] = []

    def look() -> bool:
        found[:] = dict(node.get_service_names_and_types()).get(service, [])
        return bool(found)

    if not wait_for(look, DISCOVERY_TIMEOUT_S):
        raise CliError(f"there is no service '{service}'; name its type to wait for it")
    return found[0]
