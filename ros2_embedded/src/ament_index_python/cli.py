"""The command `ament_index`: print what the resource index holds."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .resources import get_resource, get_resource_types, get_resources

__all__ = [
    "get_resource",
    "get_resource_types",
    "get_resources",
    "main",
    "resource_name_completer",
    "resource_type_completer",
]


def main(argv: list[str] | None = None) -> int | str | None:
    """Print the types of resources, the resources of a type, or the content of one.

    Returns:
        The exit code, or a text that says what is wrong.
    """
    parser = argparse.ArgumentParser(
        prog="ament_index",
        description="Query the ament resource index.",
    )
    parser.add_argument("resource_type", nargs="?", help="the type of the resource")
    parser.add_argument("resource_name", nargs="?", help="the name of the resource")
    args = parser.parse_args(argv)
    if args.resource_type is None:
        sys.stdout.write("".join(f"{name}\n" for name in sorted(get_resource_types())))
        return None
    found = get_resources(args.resource_type)
    if args.resource_name is None:
        if not found:
            return f"No resources of type '{args.resource_type}' found"
        sys.stdout.write("".join(f"{name}\t{prefix}\n" for name, prefix in sorted(found.items())))
        return None
    if args.resource_name not in found:
        return f"Could not find the resource '{args.resource_name}' of type '{args.resource_type}'"
    content, prefix = get_resource(args.resource_type, args.resource_name)
    sys.stdout.write(f"{prefix}\n" + (f"{content}\n" if content else ""))
    return None


def resource_type_completer(prefix: str, parsed_args: Any, **_: Any) -> list[str]:
    """Return all types of resources."""
    return sorted(get_resource_types())


def resource_name_completer(prefix: str, parsed_args: Any, **_: Any) -> list[str]:
    """Return the resources of the type that the arguments name."""
    if not getattr(parsed_args, "resource_type", None):
        return []
    return sorted(get_resources(parsed_args.resource_type))


if __name__ == "__main__":
    sys.exit(main())
