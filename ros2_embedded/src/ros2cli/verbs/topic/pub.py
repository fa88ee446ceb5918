"""ros2 topic pub."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from ...common_arguments import not_negative, positive
from ...errors import CliError
from ...interfaces import fill_with_stamps, load
from ...node import cli_node, full_name, wait_for
from ...other_types import topic_warning, type_name
from ...qos import add_qos_arguments, profile_from
from ...topics import write

_LINGER_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("topic", help="name of the topic")
    parser.add_argument("message_type", help="its type, such as std_msgs/msg/String")
    parser.add_argument(
        "values",
        nargs="?",
        default="{}",
        help="fields as YAML, such as '{data: hello}'; a header may be auto, a time now",
    )
    parser.add_argument(
        "--yaml-file", metavar="FILE", help="take the messages from the documents of a YAML file, in turn"
    )
    parser.add_argument("-n", "--node-name", help="name of the publishing node")
    parser.add_argument(
        "-r", "--rate", type=positive("rate"), default=1.0, metavar="HZ", help="messages a second"
    )
    parser.add_argument("-p", "--print", type=int, default=1, metavar="N", help="print every N-th message")
    parser.add_argument(
        "-1", "--once", action="store_true", help="publish one message and end; waits for a subscription"
    )
    parser.add_argument(
        "-t", "--times", type=int, default=0, metavar="N", help="publish so many messages and end"
    )
    parser.add_argument(
        "-w", "--wait-matching-subscriptions", type=int, metavar="N", help="wait for so many subscriptions"
    )
    parser.add_argument("--max-wait-time-secs", type=float, metavar="S", help="give up waiting after so long")
    parser.add_argument(
        "--keep-alive",
        type=not_negative("keep alive"),
        default=_LINGER_S,
        metavar="S",
        help="stay so long after the last message",
    )
    add_qos_arguments(parser, "publisher")


def main(args: argparse.Namespace) -> int:
    """Publish a message, once or at a rate."""
    topic = full_name(args.topic)
    message_type = load("msg", args.message_type)
    messages = []
    for text in _texts(args):
        message = message_type()
        messages.append((message, fill_with_stamps(message, text)))
    times = 1 if args.once else args.times
    wanted = args.wait_matching_subscriptions
    if wanted is None:
        wanted = 1 if times else 0
    with cli_node(args.node_name) as node:
        publisher = node.create_publisher(message_type, topic, profile_from(args, []))
        limit = float("inf") if args.max_wait_time_secs is None else args.max_wait_time_secs
        if publisher.get_subscription_count() < wanted:
            write(f"Waiting for at least {wanted} matching subscription(s)...\n")
        warn = topic_warning(
            topic, type_name("msg", message_type), node.get_subscriptions_info_by_topic, "subscribed to"
        )

        def matched() -> bool:
            found = publisher.get_subscription_count()
            if not found:
                warn()
            return found >= wanted

        if not wait_for(matched, limit):
            raise CliError(f"no {wanted} subscription(s) of '{topic}' within {limit:g} s")
        write("publisher: beginning loop\n")
        count = 0
        next_time = time.monotonic()
        while not times or count < times:
            message, stamps = messages[count % len(messages)]
            now = node.get_clock().now().to_msg()
            for set_stamp in stamps:
                set_stamp(now)
            count += 1
            if args.print and count % args.print == 0:
                write(f"publishing #{count}: {message!r}\n\n")
            publisher.publish(message)
            next_time += 1.0 / args.rate
            if not times or count < times:
                time.sleep(max(0.0, next_time - time.monotonic()))
        time.sleep(args.keep_alive)
    return 0


def _texts(args: argparse.Namespace) -> list[str]:
    """Return the YAML text of each message to publish."""
    if args.yaml_file is None:
        return [args.values]
    if args.values != "{}":
        raise CliError("values and --yaml-file exclude each other; use one of them")
    try:
        content = Path(args.yaml_file).read_text(encoding="utf-8")
    except OSError as error:
        raise CliError(f"cannot read '{args.yaml_file}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CliError(f"'{args.yaml_file}' is no text in UTF-8: {error}") from error
    texts = [part for part in re.split(r"^---.*$", content, flags=re.MULTILINE) if part.strip()]
    if not texts:
        raise CliError(f"'{args.yaml_file}' holds no message")
    return texts
