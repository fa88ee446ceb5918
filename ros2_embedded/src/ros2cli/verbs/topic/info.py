"""ros2 topic info."""

from __future__ import annotations

import argparse
from typing import Any

from ...errors import CliError
from ...node import cli_node, full_name, settle
from ...qos import describe_qos
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("topic", help="name of the topic")
    parser.add_argument("-v", "--verbose", action="store_true", help="with each endpoint and its QoS")


def main(args: argparse.Namespace) -> int:
    """Print the type of a topic and its endpoints."""
    topic = full_name(args.topic)
    with cli_node() as node:
        settle(node)
        types = dict(node.get_topic_names_and_types()).get(topic)
        publishers = node.get_publishers_info_by_topic(topic)
        subscriptions = node.get_subscriptions_info_by_topic(topic)
    if not types:
        raise CliError(f"Unknown topic '{topic}'")
    lines = [f"Type: {types[0] if len(types) == 1 else types}"]
    for title, endpoints in (("Publisher", publishers), ("Subscription", subscriptions)):
        lines += (
            ["", f"{title} count: {len(endpoints)}"] if args.verbose else [f"{title} count: {len(endpoints)}"]
        )
        if args.verbose:
            for endpoint in endpoints:
                lines += ["", *_describe(endpoint)]
    write("\n".join(lines) + "\n")
    return 0


def _describe(endpoint: Any) -> list[str]:
    gid = ".".join(f"{byte:02x}" for byte in endpoint.endpoint_gid)
    return [
        f"Node name: {endpoint.node_name}",
        f"Node namespace: {endpoint.node_namespace}",
        f"Topic type: {endpoint.topic_type}",
        f"Topic type hash: {endpoint.topic_type_hash}",
        f"Endpoint type: {endpoint.endpoint_type.name}",
        f"GID: {gid}",
        *describe_qos(endpoint.qos_profile),
    ]
