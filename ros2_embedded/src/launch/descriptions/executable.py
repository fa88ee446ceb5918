"""A program with its arguments, directory and environment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitutions.launch_configuration import LaunchConfiguration
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..action import Action
    from ..launch_context import LaunchContext

Pairs = (
    Mapping[SomeSubstitutionsType, SomeSubstitutionsType]
    | Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]
)


class Executable:
    """What to run, with substitutions, and what that came to once `prepare` was called.

    Args:
        cmd: program and arguments; an item that is a list of substitutions makes one argument.
        prefix: words to put before the command, such as `gdb -ex run --args`; the configuration
            `launch-prefix` is the default.
        name: the name of the process; the program's file name is the default.
        cwd: the working directory.
        env: the whole environment, in place of the launch's.
        additional_env: variables on top of the environment.
        arguments: arguments to append to the command.
    """

    def __init__(
        self,
        *,
        cmd: Iterable[SomeSubstitutionsType],
        prefix: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        cwd: SomeSubstitutionsType | None = None,
        env: Pairs | None = None,
        additional_env: Pairs | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
    ) -> None:
        self.__cmd = [normalize_to_list_of_substitutions(item) for item in cmd]
        self.__arguments = (
            None if arguments is None else [normalize_to_list_of_substitutions(item) for item in arguments]
        )
        self.__cmd += self.__arguments or []
        self.__prefix = normalize_to_list_of_substitutions(
            LaunchConfiguration("launch-prefix", default="") if prefix is None else prefix
        )
        self.__filter = LaunchConfiguration("launch-prefix-filter", default="")
        self.__prefix_is_default = prefix is None
        self.__name = None if name is None else normalize_to_list_of_substitutions(name)
        self.__cwd = None if cwd is None else normalize_to_list_of_substitutions(cwd)
        self.__env = None if env is None else _normalize_pairs(env)
        self.__additional_env = None if additional_env is None else _normalize_pairs(additional_env)
        self.final_prefix: list[str] = []
        self.final_cmd: list[str] = []
        self.final_cwd: str | None = None
        self.final_env: dict[str, str] | None = None
        self.final_name = ""

    @property
    def cmd(self) -> list[list[Substitution]]:
        """Program and arguments, before substitution."""
        return self.__cmd

    @property
    def arguments(self) -> list[list[Substitution]] | None:
        """The arguments behind the command, before substitution."""
        return self.__arguments

    @property
    def prefix(self) -> list[Substitution]:
        """The words before the command, before substitution."""
        return self.__prefix

    @property
    def name(self) -> list[Substitution] | None:
        """The name, before substitution."""
        return self.__name

    @property
    def cwd(self) -> list[Substitution] | None:
        """The working directory, before substitution."""
        return self.__cwd

    @property
    def env(self) -> list[tuple[list[Substitution], list[Substitution]]] | None:
        """The whole environment, before substitution."""
        return self.__env

    @property
    def additional_env(self) -> list[tuple[list[Substitution], list[Substitution]]] | None:
        """Variables on top, before substitution."""
        return self.__additional_env

    def prepare(self, context: LaunchContext, action: Action) -> None:
        """Perform all substitutions and give the process its name, `<name>-<number>`."""
        cmd = [perform_substitutions(context, item) for item in self.__cmd]
        if not cmd or not cmd[0]:
            raise ValueError(
                f"{type(action).__name__} has an empty command; give cmd=[program, argument, ...]"
            )
        base = os.path.basename(cmd[0])
        name = perform_substitutions(context, self.__name) if self.__name is not None else base
        self.final_name = f"{name}-{context.next_process_number()}"
        self.final_prefix = self._prefix(context, base)
        self.final_cmd = self.final_prefix + cmd
        self.final_cwd = perform_substitutions(context, self.__cwd) if self.__cwd is not None else None
        environment = dict(context.environment) if self.__env is None else _perform_pairs(context, self.__env)
        self.final_env = {**environment, **_perform_pairs(context, self.__additional_env or [])}

    def _prefix(self, context: LaunchContext, program: str) -> list[str]:
        if self.__prefix_is_default:
            import re

            pattern = context.perform_substitution(self.__filter)
            if pattern and not re.match(pattern, program):
                return []
        return shlex.split(perform_substitutions(context, self.__prefix))


def _normalize_pairs(pairs: Pairs) -> list[tuple[list[Substitution], list[Substitution]]]:
    return [
        (normalize_to_list_of_substitutions(key), normalize_to_list_of_substitutions(value))
        for key, value in (pairs.items() if isinstance(pairs, Mapping) else pairs)
    ]


def _perform_pairs(
    context: LaunchContext, pairs: list[tuple[list[Substitution], list[Substitution]]]
) -> dict[str, str]:
    return {
        perform_substitutions(context, key): perform_substitutions(context, value) for key, value in pairs
    }
