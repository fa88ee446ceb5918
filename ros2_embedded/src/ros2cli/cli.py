"""Entry point of `ros2`: find the verb, parse its arguments, run it."""

from __future__ import annotations

import argparse
import atexit
import difflib
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from ros2_embedded.environment import announce

from . import plugins
from .commands import ALIASES, COMMANDS, NOT_IN_HELP
from .common_arguments import GRAPH_COMMANDS, add_common_arguments
from .errors import CliError

_INTERRUPTED = int(signal.SIGINT)  # as the command of ROS 2


def main(
    argv: Sequence[str] | None = None,
    *,
    script_name: str = "ros2",
    description: str | None = None,
    extension: Any = None,
) -> int:
    """Run `ros2` with these arguments (the process's own by default) and return the exit code.

    Args:
        argv: the words after the name of the program.
        script_name: name of the program, for its help.
        description: what help says that it is for; of the extension by default.
        extension: a `CommandExtension` which is the whole program, in place of the commands of `ros2`.
    """
    if argv is None:
        atexit.register(gc.freeze)  # the interpreter ends without a last collection
        _open_closed_streams()
        _print_any_letter()
    arguments = list(sys.argv[1:] if argv is None else argv)
    announce()
    try:
        if extension is None:
            code = _dispatch(arguments)
        else:
            code = plugins.run_extension(extension, script_name, arguments, description)
        sys.stdout.flush()
        return code
    except CliError as error:
        sys.stdout.flush()
        sys.stderr.write(f"{error}\n")
        return 1
    except _wrong_values() as error:
        sys.stdout.flush()
        sys.stderr.write(f"{error}\n")
        return 1
    except BrokenPipeError:
        # The reader went away (`ros2 topic echo /x | head -1`): nothing to say, and nowhere to say it at
        # interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED


def _open_closed_streams() -> None:
    """Let what is written lead nowhere where the shell closed standard output or error, as by `>&-`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _print_any_letter() -> None:
    """Let standard output write letters that its encoding lacks as `\\u2013`, as standard error does.

    A launch passes on what its processes print, and does not end for one of their letters.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _wrong_values() -> tuple[type[Exception], ...]:
    """The errors that tell of a wrong name, value, session file or bag; imported when there is one."""
    from rclpy.exceptions import NameValidationException
    from rclpy.node_graph import InvalidQueryError
    from ros2_embedded.rosidl.cdr_support import SerializationError
    from ros2_embedded.session_config import SessionConfigError

    bags = sys.modules.get("rosbag2_py")  # only a verb that read one can have met a damaged one
    damaged = () if bags is None else (bags.BagError,)
    return NameValidationException, InvalidQueryError, SerializationError, SessionConfigError, *damaged


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        own = {name: help_ for name, (help_, _) in COMMANDS.items()}
        lines = {**plugins.lines_of_commands(own), **own}
        shown = {name: line for name, line in sorted(lines.items()) if name not in NOT_IN_HELP}
        _print_table("usage: ros2 <command> ...\n\nCommands:", shown)
        return 0
    command, *rest = arguments
    command = ALIASES.get(command, command)
    modules = plugins.module_verbs(command)
    if command not in COMMANDS and not modules:
        known = plugins.command_names()
        if command in known:
            return plugins.run_command(command, rest)
        raise CliError(
            f"unknown command '{command}'{_did_you_mean(command, [*COMMANDS, *known])}; "
            "'ros2 --help' lists them"
        )
    help_, verbs = COMMANDS.get(command, (f"Verbs of {command}, added by plug-ins", {}))
    added = plugins.verb_names(command)
    if "" in verbs:
        if rest and rest[0] in added:
            return plugins.run_verb(command, rest[0], rest[1:])
        return _run(command, "main", help_, rest)
    if not rest or rest[0] in ("-h", "--help"):
        lines = {**plugins.lines_of_verbs(command, verbs), **verbs}
        _print_table(f"usage: ros2 {command} <verb> ...\n\n{help_}\n\nVerbs:", dict(sorted(lines.items())))
        return 0
    verb, *rest = _verb_first(rest, {*verbs, *modules, *added})
    if verb in verbs:
        return _run(command, verb, verbs[verb], rest)
    if verb in modules:
        return _run_module(modules[verb].load(), f"{command} {verb}", "", rest)
    if verb in added:
        return plugins.run_verb(command, verb, rest)
    raise CliError(
        f"unknown verb '{command} {verb}'{_did_you_mean(verb, [*verbs, *modules, *added])}; "
        f"'ros2 {command} --help' lists them"
    )


def _verb_first(arguments: list[str], verbs: set[str]) -> list[str]:
    """Options may stand before the verb, as in `ros2 topic --include-hidden-topics list`."""
    if not arguments[0].startswith("-"):
        return arguments
    index = next((index for index, word in enumerate(arguments) if word in verbs), 0)
    return [arguments[index], *arguments[:index], *arguments[index + 1 :]]


def _run(command: str, verb: str, help_: str, arguments: list[str]) -> int:
    module = importlib.import_module(f"{__package__}.verbs.{command}.{verb}")
    return _run_module(module, command if verb == "main" else f"{command} {verb}", help_, arguments)


def _run_module(module: ModuleType, name: str, help_: str, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"ros2 {name}", description=help_)
    module.add_arguments(parser)
    if name.split()[0] in GRAPH_COMMANDS:
        add_common_arguments(parser)
    code: int = module.main(_parse(parser, arguments))
    return code


def _parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    if any(action.nargs == argparse.REMAINDER for action in parser._actions):
        return parser.parse_args(arguments)
    # Options may stand before, after and between the other arguments.
    return parser.parse_intermixed_args(arguments)


def _print_table(title: str, rows: dict[str, str]) -> None:
    width = max(map(len, rows)) + 2
    sys.stdout.write(title + "\n" + "".join(f"  {name:<{width}}{help_}\n" for name, help_ in rows.items()))


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f", did you mean '{close[0]}'?" if close else ""


if __name__ == "__main__":
    sys.exit(main())
