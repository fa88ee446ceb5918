"""`openral`: the root of the command line, which turns errors into messages and exit codes."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from openral_cli import doctor_command
from openral_cli.plugins import PluginGroup
from openral_core.cli.printable import printable_lines
from openral_core.errors import OpenralError, UsageError
from openral_core.files.output_folder import disk_fault
from openral_core.process.collector import end_uncollected

EXIT_FAILURE, EXIT_USAGE = 1, 2
"""Exit codes for errors that the user can fix: 2 for invalid arguments, as typer has it, and 1 for all that fails
later, such as a missing file."""

app = typer.Typer(
    name="openral",
    cls=PluginGroup,
    help="Vision-language-action checkpoints as ROS 2 skills: one sentence moves an arm.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("doctor")(doctor_command.doctor)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"openral {version('openral')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep the verbs below one command, also where only one is built in."""


def main() -> None:
    """Run the command line. An OpenralError or a disk fault is printed as one message and sets the exit code."""
    end_uncollected()
    _print_any_letter()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        app()
    except OpenralError as error:
        _refuse(str(error), EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILURE)
    except OSError as error:
        fault = disk_fault(error)
        if fault is None and _is_folder_gone():
            fault = "the folder that it was called in is gone; cd to one that is there"
        if fault is None:
            raise
        _refuse(fault, EXIT_FAILURE)
    except UnicodeEncodeError as error:
        if error.encoding != "utf-8":
            raise
        _refuse(f"{error.object}: is no text in UTF-8; rename the file or the folder", EXIT_FAILURE)
    except ValueError as error:
        if not _is_of_session(error):
            raise
        _refuse(str(error), EXIT_FAILURE)


def _print_any_letter() -> None:
    """Let standard output write letters that its encoding lacks as `\\u2013`, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_folder_gone() -> bool:
    """Return whether the working folder was removed, as by another terminal; then no relative path leads anywhere."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _is_of_session(error: ValueError) -> bool:
    """Return whether the error is an invalid session configuration, from the environment or a file that it names."""
    module = sys.modules.get("ros2_embedded.session_config")  # it is loaded if a session was opened
    return module is not None and isinstance(error, module.SessionConfigError)


def _refuse(why: str, code: int) -> NoReturn:
    with contextlib.suppress(OSError):  # standard error itself may be on the disk that is full
        Console(stderr=True, emoji=False).print(
            f"error: {printable_lines(why)}", style="red", markup=False, highlight=False, soft_wrap=True
        )
    sys.exit(code)
