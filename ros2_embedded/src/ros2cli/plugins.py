"""Commands and verbs that other distributions add to `ros2`.

Those written for ROS 2 are classes: `ros2cli.command.CommandExtension` in the group `ros2cli.command`, and
`VerbExtension` in groups such as `ros2topic.verb`. A distribution may also name a module with
`add_arguments(parser)` and `main(args) -> int`:

    [project.entry-points."ros2_embedded.verbs"]
    "topic.plot" = "my_tools.plot"        # ros2 topic plot
    "fleet.list" = "my_tools.fleet_list"  # ros2 fleet list

Nothing is imported before it is run, or told of by help.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from typing import Any

from .entry_points import get_entry_points, get_first_line_doc, why_broken
from .errors import CliError
from .plugin_system import instantiate, instantiate_extensions

COMMANDS_GROUP = "ros2cli.command"
VERBS_GROUP = "ros2_embedded.verbs"
_OTHER_GROUPS = {"daemon": "ros2cli.daemon.verb", "security": "sros2.verb"}
_WITHOUT_VERBS = ("extension_points", "extensions", "launch", "run", "test")
_HIDDEN_OPTIONS = {"service": "--include-hidden-services", "topic": "--include-hidden-topics"}
"""Options of commands, which their verbs see."""


def module_verbs(command: str) -> dict[str, EntryPoint]:
    """Return the entry points of the modules that are verbs of a command, by verb."""
    return {
        name.partition(".")[2]: point
        for name, point in get_entry_points(VERBS_GROUP).items()
        if name.partition(".")[0] == command
    }


def verb_group(command: str) -> str | None:
    """Return the group of the verbs that ROS 2's packages add to a command, None for one without verbs."""
    if command in _WITHOUT_VERBS:
        return None
    return _OTHER_GROUPS.get(command, f"ros2{command}.verb")


def verb_names(command: str) -> list[str]:
    """Return the verbs that ROS 2's packages add to a command."""
    group = verb_group(command)
    return [] if group is None else list(get_entry_points(group))


def command_names() -> list[str]:
    """Return the commands that packages add."""
    modules = {name.partition(".")[0] for name in get_entry_points(VERBS_GROUP)}
    return sorted(modules | set(get_entry_points(COMMANDS_GROUP)))


def lines_of_verbs(command: str, taken: Mapping[str, str]) -> dict[str, str]:
    """Return a line of help for each verb that packages add to a command, and that is not taken."""
    group = verb_group(command)
    found = {} if group is None else _lines(group, taken)
    return {**found, **{name: f"plug-in, {point.value}" for name, point in module_verbs(command).items()}}


def lines_of_commands(taken: Mapping[str, str]) -> dict[str, str]:
    """Return a line of help for each command that packages add, and that is not taken."""
    modules = {name.partition(".")[0] for name in get_entry_points(VERBS_GROUP)} - set(taken)
    return {
        **{name: f"Verbs of {name}, added by plug-ins" for name in sorted(modules)},
        **_lines(COMMANDS_GROUP, taken),
    }


def _lines(group: str, taken: Mapping[str, str]) -> dict[str, str]:
    return {
        name: get_first_line_doc(extension)
        for name, extension in instantiate_extensions(group, exclude_names=taken).items()
    }


def load_extension(group_name: str, name: str) -> Any:
    """Import an extension and return its instance.

    Raises:
        CliError: it is broken.
    """
    try:
        extension = instantiate(get_entry_points(group_name)[name].load())
    except (Exception, SystemExit) as error:  # a plug-in of other people may raise anything
        raise CliError(why_broken(group_name, name, error)) from error
    return name_extensions({name: extension})[name]


def name_extensions(extensions: dict[str, Any]) -> dict[str, Any]:
    """Tell extensions the names of their entry points, and return them."""
    for name, extension in extensions.items():
        extension.NAME = name
    return extensions


def prepare(
    parser: argparse.ArgumentParser, extension: Any, cli_name: str, defaults: Mapping[str, Any]
) -> None:
    """Give a parser the arguments of an extension, its description and these defaults.

    Raises:
        CliError: its arguments cannot be added.
    """
    parser.set_defaults(**defaults)
    parser.description = get_first_line_doc(extension)
    if hasattr(extension, "add_arguments"):
        try:
            extension.add_arguments(parser, cli_name)
        except CliError:
            raise
        except Exception as error:  # a plug-in of other people may raise anything
            raise CliError(why_broken(cli_name, str(extension.NAME), error)) from error


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Run a command that a package adds."""
    return run_extension(load_extension(COMMANDS_GROUP, name), f"ros2 {name}", arguments)


def run_verb(command: str, verb: str, arguments: Sequence[str]) -> int:
    """Run a verb that a package adds to a command."""
    group = verb_group(command)
    assert group is not None  # only verbs of a group are found
    extension = load_extension(group, verb)
    parser = _parser(f"ros2 {command} {verb}")
    prepare(parser, extension, f"ros2 {command} {verb}", {})
    option = _HIDDEN_OPTIONS.get(command)
    if option is not None and option not in parser._option_string_actions:
        parser.add_argument(option, action="store_true", help="consider hidden names as well")
    return _ended(lambda: extension.main(args=parser.parse_args(arguments)))


def run_extension(
    extension: Any, cli_name: str, arguments: Sequence[str], description: str | None = None
) -> int:
    """Run the extension of a command."""
    parser = _parser(cli_name)
    prepare(parser, extension, cli_name, {})
    parser.description = description or parser.description
    return _ended(lambda: extension.main(parser=parser, args=parser.parse_args(arguments)))


def _parser(cli_name: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=cli_name, formatter_class=argparse.RawDescriptionHelpFormatter)


def _ended(main: Any) -> int:
    """Return the exit code of an extension, which returns it, a text that says what is wrong, or None."""
    try:
        code = main()
    except NotImplementedError:
        raise
    except RuntimeError as error:
        code = str(error)
    if code is None or isinstance(code, int):
        return int(code or 0)
    sys.stdout.flush()
    sys.stderr.write(f"{code}\n")
    return 1
