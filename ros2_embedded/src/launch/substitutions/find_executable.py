"""The path of a program."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("find-exec")
class FindExecutable(Substitution):
    """The path of the program with this name on the launch's PATH."""

    def __init__(self, *, name: SomeSubstitutionsType) -> None:
        self.__name = normalize_to_list_of_substitutions(name)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(find-exec name)`."""
        (name,) = data
        return cls, {"name": name}

    @property
    def name(self) -> list[Substitution]:
        """The program's name."""
        return self.__name

    def describe(self) -> str:
        """Return the program's name."""
        return f"FindExec({' + '.join(sub.describe() for sub in self.__name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the path; raise SubstitutionFailure when no such program is on PATH."""
        name = perform_substitutions(context, self.__name)
        path = shutil.which(name, path=context.environment.get("PATH"))
        if path is None:
            raise SubstitutionFailure(f"executable '{name}' not found on the PATH")
        return path
