"""The value of a global parameter."""

from __future__ import annotations

from typing import Any

from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.frontend.expose import expose_substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@expose_substitution("param")
class Parameter(Substitution):
    """The value that `SetParameter` gave a parameter in this scope, or a default."""

    def __init__(self, name: SomeSubstitutionsType, *, default: SomeSubstitutionsType | None = None) -> None:
        self.__name = normalize_to_list_of_substitutions(name)
        self.__default = None if default is None else normalize_to_list_of_substitutions(default)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(param name [default])`."""
        name, *rest = data
        return cls, {"name": name, "default": rest[0] if rest else None}

    @property
    def name(self) -> list[Substitution]:
        """The parameter's name."""
        return self.__name

    def describe(self) -> str:
        """Return the parameter's name in words."""
        return f"Parameter({' + '.join(sub.describe() for sub in self.__name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value as text; raise SubstitutionFailure when it is not set and there is no default."""
        name = perform_substitutions(context, self.__name)
        for item in reversed(context.launch_configurations.get("global_params", [])):
            if isinstance(item, tuple) and item[0] == name:
                return str(item[1])
        if self.__default is not None:
            return perform_substitutions(context, self.__default)
        raise SubstitutionFailure(
            f"parameter '{name}' is not set; use SetParameter before, or give a default"
        )
