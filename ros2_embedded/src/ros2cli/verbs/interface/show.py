"""ros2 interface show."""

from __future__ import annotations

import argparse
import sys

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("type", help="the interface, such as std_msgs/msg/String; '-' reads it from stdin")
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--all-comments", action="store_true", help="show the comments of nested messages as well"
    )
    only.add_argument("--no-comments", action="store_true", help="leave comments and empty lines out")


def main(args: argparse.Namespace) -> int:
    """Print the definition of an interface, with those of its fields indented below them."""
    from ros2_embedded.packages import package_names, package_share
    from ros2_embedded.rosidl.parser import InterfaceSyntaxError
    from ros2_embedded.rosidl.registry import InterfaceNotFoundError

    from ...definition_text import definition_text

    name = sys.stdin.readline().strip() if args.type == "-" else args.type
    parts = name.split("/")
    if len(parts) != 3 or parts[1] not in ("msg", "srv", "action"):
        raise CliError(f"'{name}' is no interface name; write package/msg/Name (or srv, action)")
    if parts[0] not in package_names():
        raise CliError(f"Unknown package '{parts[0]}'")
    try:
        text = definition_text(name, comments=not args.no_comments, nested_comments=args.all_comments)
    except InterfaceNotFoundError as error:
        path = package_share(parts[0]).joinpath(*parts[1:]).with_suffix(".idl")
        raise CliError(f"Could not find the interface '{path}'") from error
    except InterfaceSyntaxError as error:
        raise CliError(str(error)) from error
    write(text)
    return 0
