"""The value of an environment variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("env")
class EnvironmentVariable(Substitution):
    """The variable's value in the launch's environment when performed, or a default."""

    def __init__(
        self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None
    ) -> None:
        self.__name = normalize_to_list_of_substitutions(name)
        self.__default = None if default_value is None else normalize_to_list_of_substitutions(default_value)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(env name [default])`."""
        name, *rest = data
        return cls, {"name": name, "default_value": rest[0] if rest else None}

    @property
    def name(self) -> list[Substitution]:
        """The name of the variable."""
        return self.__name

    @property
    def default_value(self) -> list[Substitution] | None:
        """What it is when not set."""
        return self.__default

    def describe(self) -> str:
        """Return the name of the variable."""
        return f"EnvVar({' + '.join(sub.describe() for sub in self.__name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value; raise SubstitutionFailure when it is not set and there is no default."""
        name = perform_substitutions(context, self.__name)
        if name in context.environment:
            return context.environment[name]
        if self.__default is not None:
            return perform_substitutions(context, self.__default)
        raise SubstitutionFailure(
            f"environment variable '{name}' does not exist; set it or give a default_value"
        )
