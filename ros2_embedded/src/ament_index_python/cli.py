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


def main(argv: list[str] | None = None) -> str | None:
    """Print the types of resources, the resources of a type, or the content of one.

    Returns:
        None, or a text that says what is wrong.
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
    if args.resource_name is None:
        found = get_resources(args.resource_type)
        sys.stdout.write("".join(f"{name}\t{prefix}\n" for name, prefix in sorted(found.items())))
        return None
    try:
        content, prefix = get_resource(args.resource_type, args.resource_name)
    except (LookupError, OSError) as error:
        return str(error)
    sys.stdout.write(f"{prefix}\n" + (f"<<<\n{content}\n>>>\n" if content else ""))
    return None


def resource_type_completer(prefix: str, parsed_args: Any = None, **_: Any) -> list[str]:
    """Return the types of resources that begin with a text."""
    return sorted(name for name in get_resource_types() if name.startswith(prefix))


def resource_name_completer(prefix: str, parsed_args: Any, **_: Any) -> list[str]:
    """Return the resources that begin with a text, of the type that the arguments name."""
    resource_type = getattr(parsed_args, "resource_type", None)
    if not resource_type:
        return []
    return sorted(name for name in get_resources(resource_type) if name.startswith(prefix))


if __name__ == "__main__":
    sys.exit(main())
