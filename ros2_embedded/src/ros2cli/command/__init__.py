"""Commands that other packages add to `ros2`, and their verbs.

A package names its class in the group `ros2cli.command`, and those of its verbs in a group of its own:

    entry_points={
        "ros2cli.command": ["fleet = ros2fleetcli.command:FleetCommand"],
        "ros2fleetcli.verb": ["list = ros2fleetcli.verb:ListVerb"],
    }
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from ..entry_points import get_entry_points, get_first_line_doc
from ..errors import CliError
from ..plugin_system import PLUGIN_SYSTEM_VERSION, instantiate_extensions, satisfies_version
from ..plugins import load_extension, name_extensions, prepare

__all__ = [
    "PLUGIN_SYSTEM_VERSION",
    "CommandExtension",
    "add_subparsers",
    "add_subparsers_on_demand",
    "get_command_extensions",
    "get_entry_points",
    "get_first_line_doc",
    "instantiate_extensions",
    "satisfies_version",
]


class CommandExtension:
    """The base of commands that other packages add to `ros2`."""

    NAME: str | None = None
    EXTENSION_POINT_VERSION = "0.1"

    def __init__(self) -> None:
        """Check that the class fits."""
        super().__init__()
        satisfies_version(PLUGIN_SYSTEM_VERSION, "^0.1")

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        """Add the arguments; none here."""

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int | str | None:
        """Do the work and return the exit code.

        Raises:
            NotImplementedError: a command must say what it does.
        """
        raise NotImplementedError


def get_command_extensions(group_name: str, *, exclude_names: Container[str] | None = None) -> dict[str, Any]:
    """Return the extensions of a group by name; one that is broken is told and left out."""
    return name_extensions(instantiate_extensions(group_name, exclude_names=exclude_names))


def add_subparsers(
    parser: argparse.ArgumentParser,
    cli_name: str,
    dest: str,
    command_extensions: Mapping[str, Any],
    hide_extensions: Container[str] | None = None,
    required: bool = True,
) -> Any:
    """Add a sub-command for each of some extensions.

    Args:
        parser: gets the sub-commands.
        cli_name: words before the sub-command, such as `ros2 fleet`.
        dest: attribute of the arguments that gets the chosen extension.
        command_extensions: the extensions by name.
        hide_extensions: those that help does not list.
        required: whether one must be chosen.
    """
    action = _add_action(parser, cli_name, dest, argparse._SubParsersAction, required)
    _describe(action, parser, command_extensions, hide_extensions)
    for name, extension in sorted(command_extensions.items()):
        sub = action.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter)
        prepare(sub, extension, f"{cli_name} {name}", {dest: extension})
    return action


def add_subparsers_on_demand(
    parser: argparse.ArgumentParser,
    cli_name: str,
    dest: str,
    group_name: str,
    hide_extensions: Container[str] | None = None,
    required: bool = True,
    argv: Sequence[str] | None = None,
) -> Any:
    """Add a sub-command for each entry point of a group; the one that is chosen is imported, and no other.

    Help of the parser itself imports them all, to tell what each is for.

    Args:
        parser: gets the sub-commands.
        cli_name: words before the sub-command, such as `ros2 fleet`.
        dest: attribute of the arguments that gets the chosen extension.
        group_name: group of the entry points.
        hide_extensions: those that help does not list.
        required: whether one must be chosen.
        argv: not needed: the choice is made when the parser gets its words.
    """
    action = _add_action(parser, cli_name, dest, _OnDemand, required)
    action.choose = (group_name, cli_name, dest)
    for name in get_entry_points(group_name):
        action.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter)
    without_list = parser.format_help

    def format_help() -> str:
        if not action.described:
            action.described = True
            _describe(action, parser, get_command_extensions(group_name), hide_extensions)
        return without_list()

    vars(parser)["format_help"] = format_help
    return action


class _OnDemand(argparse._SubParsersAction):
    """Sub-commands that are imported when they are chosen.

    Attributes:
        choose: group of the entry points, words before the sub-command, and attribute of the chosen one.
        described: whether help lists the sub-commands.
    """

    choose: tuple[str, str, str]
    described = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Let the chosen one add its arguments, and parse the rest."""
        group_name, cli_name, dest = self.choose
        name = values[0]
        sub = self._name_parser_map[name]
        if sub.get_default(dest) is None:
            extension = load_extension(group_name, name)
            prepare(sub, extension, f"{cli_name} {name}", {dest: extension})
        super().__call__(parser, namespace, values, option_string)


def _add_action(
    parser: argparse.ArgumentParser, cli_name: str, dest: str, kind: type[Any], required: bool
) -> Any:
    """Add the sub-commands to a parser, under a name that no argument has and that reads well in usage."""
    action = parser.add_subparsers(
        title="Commands",
        action=kind,
        metavar=f"Call `{cli_name} <command> -h` for more detailed usage.",
        dest=" " + dest.lstrip("_"),
    )
    action.required = required
    return action


def _describe(
    action: Any, parser: argparse.ArgumentParser, extensions: Mapping[str, Any], hidden: Container[str] | None
) -> None:
    """Have the help of a parser list extensions, each with the first line of its documentation."""
    shown = {
        name: get_first_line_doc(extension)
        for name, extension in sorted(extensions.items())
        if name not in (hidden or ())
    }
    width = max(map(len, shown), default=0)
    group = _group_of(action, parser._action_groups)
    group.description = "\n".join(f"{name:<{width}}  {line}" for name, line in shown.items())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def _group_of(action: Any, groups: Iterable[Any]) -> Any:
    for group in groups:
        if action in group._group_actions:
            return group
    raise CliError("the sub-commands lie in no group of their parser")
