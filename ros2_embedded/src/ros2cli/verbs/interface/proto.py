"""ros2 interface proto."""

from __future__ import annotations

import argparse
from typing import Any

from ...interfaces import load
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("type", help="the interface, such as std_msgs/msg/String")
    parser.add_argument("--no-quotes", action="store_true", help="without the quotes around it")


def main(args: argparse.Namespace) -> int:
    """Print the default value of a message, request or goal, to be edited and passed to pub, call or
    send_goal."""
    from rosidl_runtime_py import message_to_yaml

    kind = args.type.split("/")[1] if args.type.count("/") == 2 else "msg"
    loaded: Any = load(kind if kind in ("msg", "srv", "action") else "msg", args.type)
    message = {"srv": lambda: loaded.Request(), "action": lambda: loaded.Goal()}.get(kind, lambda: loaded())()
    text = message_to_yaml(message)
    write(text if args.no_quotes else f'"{text}"\n')
    return 0
