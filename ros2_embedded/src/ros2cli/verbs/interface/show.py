"""ros2 interface show."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("type", help="the interface, such as std_msgs/msg/String")
    parser.add_argument("--all-comments", action="store_true", help="accepted: comments are shown as written")
    parser.add_argument("--no-comments", action="store_true", help="leave comments and empty lines out")


def main(args: argparse.Namespace) -> int:
    """Print the definition of an interface, with those of its fields indented below them."""
    from ros2_embedded.rosidl.registry import InterfaceNotFoundError

    from ...definition_text import definition_text

    parts = args.type.split("/")
    if len(parts) != 3 or parts[1] not in ("msg", "srv", "action"):
        raise CliError(f"'{args.type}' is no interface name; write package/msg/Name (or srv, action)")
    try:
        text = definition_text(*parts)
    except InterfaceNotFoundError as error:
        raise CliError(str(error)) from error
    write(_without_comments(text) if args.no_comments else text)
    return 0


def _without_comments(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return "".join(f"{_code(line)}\n" for line in lines if _code(line))


def _code(line: str) -> str:
    """Return a line of a definition without its comment; a '#' in a text constant is none."""
    name, quote, _ = line.partition('"')
    return line if quote and "#" not in name else line.partition("#")[0].rstrip()
