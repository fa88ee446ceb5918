"""ros2 interface show."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("type", help="the interface, such as std_msgs/msg/String")


def main(args: argparse.Namespace) -> int:
    """Print the definition of an interface, with those of its fields indented below them."""
    from ros2_embedded.rosidl.registry import InterfaceNotFoundError

    from ...definition_text import definition_text

    parts = args.type.split("/")
    if len(parts) != 3 or parts[1] not in ("msg", "srv", "action"):
        raise CliError(f"'{args.type}' is no interface name; write package/msg/Name (or srv, action)")
    try:
        write(definition_text(*parts))
    except InterfaceNotFoundError as error:
        raise CliError(str(error)) from error
    return 0
