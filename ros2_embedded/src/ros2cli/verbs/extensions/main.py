"""ros2 extensions."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import Distribution, EntryPoint

from ...commands import COMMANDS
from ...entry_points import get_entry_points, get_first_line_doc
from ...plugins import COMMANDS_GROUP, verb_group
from .points import attributes, extension_points, module_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "-a", "--all", action="store_true", help="show those that are broken as well, after '- '"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show more of each")


def main(args: argparse.Namespace) -> int:
    """Print the commands and verbs of this distribution and those that packages add, by group."""
    own = _own()
    for group in extension_points():
        added = get_entry_points(group)
        lines = {name: [f"  {name}: {help_}"] for name, help_ in own.get(group, {}).items()}
        lines.update({name: _tell(point, args) for name, point in added.items() if name not in lines})
        text = "".join(f"{line}\n" for _, of in sorted(lines.items()) for line in of)
        if text:
            sys.stdout.write(f"{group}\n{text}")
    return 0


def _own() -> dict[str, dict[str, str]]:
    """Return the lines of help of this distribution's commands and verbs, by group."""
    groups = {COMMANDS_GROUP: {name: help_ for name, (help_, _) in COMMANDS.items()}}
    for command, (_, verbs) in COMMANDS.items():
        group = verb_group(command)
        if group is not None and "" not in verbs:
            groups[group] = verbs
    return groups


def _tell(point: EntryPoint, args: argparse.Namespace) -> list[str]:
    """Return the lines about an extension, none for a broken one that is not asked for."""
    kind = None
    try:
        kind = point.load()
        kind()
        problem = None
    except (Exception, SystemExit) as error:  # noqa: BLE001  packages of others may raise anything
        problem = error
    if problem is not None and not args.all:
        return []
    mark = " " if problem is None else "-"
    lines = [f"{mark} {point.name}: {get_first_line_doc(kind)}"]
    if args.verbose:
        lines.append(f"{mark}   module_name: {module_name(point)}")
        lines.append(f"{mark}   attributes: {attributes(point)}")
        distribution: Distribution | None = getattr(point, "dist", None)
        if distribution is not None:
            lines.append(f"{mark}   distribution: {distribution.metadata['Name']} {distribution.version}")
    if problem is not None:
        lines.append(f"{mark}   reason: {problem}")
    return lines
