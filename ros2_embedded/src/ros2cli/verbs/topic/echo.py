"""ros2 topic echo."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from ...errors import CliError
from ...interfaces import load
from ...message_text import add_format_arguments, format_message, passes
from ...node import cli_node, full_name
from ...other_types import topic_warning, type_name
from ...qos import add_qos_arguments
from ...topics import spin, subscription_profile, wait_for_topic, write

_CLEAR_SCREEN = "\x1b[H\x1b[2J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("topic", help="name of the topic")
    parser.add_argument(
        "message_type", nargs="?", help="its type, such as std_msgs/msg/String; the topic's by default"
    )
    parser.add_argument("--once", action="store_true", help="print one message and end")
    parser.add_argument(
        "--timeout", type=float, metavar="S", help="end after so many seconds without a message"
    )
    parser.add_argument("--field", metavar="A.B", help="print this field only")
    parser.add_argument(
        "--filter", metavar="EXPR", help="print messages for which this Python expression of 'm' is true"
    )
    parser.add_argument("--raw", action="store_true", help="print the serialised bytes")
    parser.add_argument(
        "--include-message-info", action="store_true", help="print when each message was sent and came"
    )
    add_format_arguments(parser)
    parser.add_argument("--clear", action="store_true", help="clear the screen before each message")
    for option in ("--lost-messages", "--no-lost-messages"):
        parser.add_argument(option, action="store_true", help="accepted for ROS 2's sake")
    add_qos_arguments(parser, "subscription")


def main(args: argparse.Namespace) -> int:
    """Print the messages of a topic."""
    if args.filter is not None and args.raw:
        raise CliError("--filter looks into messages, which --raw does not read; use one of them")
    topic = full_name(args.topic)
    received = 0
    last = time.monotonic()

    def take(message: Any, info: Any) -> None:
        nonlocal received, last
        if args.once and received:
            return
        if args.filter is not None and not passes(message, args.filter):
            return
        received, last = received + 1, time.monotonic()
        if args.clear:
            write(_CLEAR_SCREEN)
        if args.include_message_info:
            write(f"---Got new message, message info:---\n{info}\n---Message data:---\n")
        write(_format(message, args))

    def ended() -> bool:
        if args.timeout is not None and time.monotonic() - last > args.timeout:
            return True
        return args.once and received > 0

    with cli_node() as node:
        message_type = load("msg", args.message_type or wait_for_topic(node, topic))
        profile = subscription_profile(node, topic, args)
        node.create_subscription(message_type, topic, take, profile, raw=args.raw)
        warn = topic_warning(
            topic, type_name("msg", message_type), node.get_publishers_info_by_topic, "published"
        )
        spin(node, ended if args.message_type is None else lambda: _warned(warn, received) or ended())
    return 0


def _warned(warn: Callable[[], None], received: int) -> bool:
    """Warn of other types while nothing has come; False, for a condition that goes on."""
    if not received:
        warn()
    return False


def _format(message: Any, args: argparse.Namespace) -> str:
    if args.raw:
        return f"{bytes(message)!r}\n---\n"
    if args.field:
        message = _select(message, args.field)
        if not hasattr(message, "get_fields_and_field_types"):
            return _format_value(message, args.csv) + ("\n" if args.csv else "\n---\n")
    return format_message(message, args)


def _select(message: Any, field: str) -> Any:
    for part in field.split("."):
        name, _, index = part.partition("[")
        if not hasattr(message, name):
            known: dict[str, str] = getattr(message, "get_fields_and_field_types", dict)()
            raise CliError(f"no field '{name}' in '{field}'; there is: {', '.join(known) or 'none'}")
        message = getattr(message, name)
        if index:
            message = _item(message, index.rstrip("]"), field)
    return message


def _item(value: Any, index: str, field: str) -> Any:
    try:
        return value[int(index)]
    except (IndexError, TypeError, ValueError) as error:
        length = len(value) if hasattr(value, "__len__") else 0
        raise CliError(f"no item [{index}] in '{field}'; there are {length}") from error


def _format_value(value: Any, csv: bool) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if csv and isinstance(value, list):
        return ",".join(map(str, value))
    return str(value)
