"""The output of a command."""

from __future__ import annotations

import shlex
import subprocess
import warnings
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("command")
class Command(Substitution):
    """What a command writes to stdout. The text is split as a shell would, but no shell runs it.

    Args:
        command: the command line.
        on_stderr: what output on stderr means: 'fail', 'warn', 'ignore' or 'capture' (append it to the
            result).
    """

    def __init__(self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail") -> None:
        self.__command = normalize_to_list_of_substitutions(command)
        self.__on_stderr = normalize_to_list_of_substitutions(on_stderr)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(command line [on_stderr])`."""
        command, *rest = data
        return cls, {"command": command, "on_stderr": rest[0] if rest else "fail"}

    @property
    def command(self) -> list[Substitution]:
        """The command line."""
        return self.__command

    @property
    def on_stderr(self) -> list[Substitution]:
        """What output on stderr means."""
        return self.__on_stderr

    def describe(self) -> str:
        """Return the command line."""
        return f"Command({' + '.join(sub.describe() for sub in self.__command)})"

    def perform(self, context: LaunchContext) -> str:
        """Run the command; raise SubstitutionFailure if it cannot be run, fails, or writes to a forbidden
        stderr."""
        line = perform_substitutions(context, self.__command)
        mode = perform_substitutions(context, self.__on_stderr)
        if mode not in ("fail", "warn", "ignore", "capture"):
            raise SubstitutionFailure(f"on_stderr is '{mode}'; expected fail, warn, ignore or capture")
        try:
            result = subprocess.run(
                shlex.split(line), capture_output=True, text=True, env=context.environment, check=False
            )
        except FileNotFoundError as error:
            raise SubstitutionFailure(f"file not found: {error}, command: {line}") from error
        except (OSError, ValueError) as error:
            raise SubstitutionFailure(f"cannot run command '{line}': {error}") from error
        if result.returncode != 0:
            raise SubstitutionFailure(
                f"executed command failed. Command: {line}\nExit code: {result.returncode}\n"
                f"Captured stderr output: {result.stderr.strip()}"
            )
        if result.stderr and mode == "fail":
            raise SubstitutionFailure(
                f"executed command showed stderr output. Command: {line}\n"
                f"Captured stderr output: {result.stderr.strip()}\nSee on_stderr"
            )
        if result.stderr and mode == "warn":
            warnings.warn(
                f"executed command showed stderr output. Command: {line}\n"
                f"Captured stderr output: {result.stderr.strip()}",
                stacklevel=2,
            )
        return result.stdout + (result.stderr if mode == "capture" else "")
