"""ros2 extension_points."""

from __future__ import annotations

import argparse
import sys

from ...entry_points import get_first_line_doc
from ..extensions.points import attributes, extension_points, module_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "-a", "--all", action="store_true", help="show those that cannot be imported as well, after '- '"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show more of each")


def main(args: argparse.Namespace) -> int:
    """Print the groups of entry points that packages extend."""
    for name, point in extension_points().items():
        try:
            kind, problem = point.load(), None
        except (Exception, SystemExit) as error:  # noqa: BLE001  packages of others may raise anything
            kind, problem = None, error
        if problem is not None and not args.all:
            continue
        mark = "" if problem is None else "- "
        lines = [f"{mark}{name}: {get_first_line_doc(kind)}"]
        if args.verbose:
            lines += [
                f"{mark}  module_name: {module_name(point)}",
                f"{mark}  attributes: {attributes(point)}",
            ]
            if hasattr(kind, "EXTENSION_POINT_VERSION"):
                lines.append(f"{mark}  version: {kind.EXTENSION_POINT_VERSION}")
        if problem is not None:
            lines.append(f"{mark}  reason: {problem}")
        sys.stdout.write("\n".join(lines) + "\n")
    return 0
