"""The value of a launch configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("var")
class LaunchConfiguration(Substitution):
    """The value of the launch configuration with this name, or a default."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any = None) -> None:
        self.__variable_name = normalize_to_list_of_substitutions(variable_name)
        if default is not None and not isinstance(default, (str, Substitution, list, tuple)):
            default = str(default)
        self.__default = None if default is None else normalize_to_list_of_substitutions(default)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(var name [default])`."""
        name, *rest = data
        return cls, {"variable_name": name, "default": rest[0] if rest else None}

    @property
    def variable_name(self) -> list[Substitution]:
        """The name."""
        return self.__variable_name

    def describe(self) -> str:
        """Return the name of the configuration."""
        return f"LaunchConfig({' + '.join(sub.describe() for sub in self.__variable_name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value; raise SubstitutionFailure when it is not set and there is no default."""
        name = perform_substitutions(context, self.__variable_name)
        if name in context.launch_configurations:
            return str(context.launch_configurations[name])
        if self.__default is not None:
            return perform_substitutions(context, self.__default)
        raise SubstitutionFailure(
            f"launch configuration '{name}' does not exist; "
            f"declare it with DeclareLaunchArgument or pass {name}:=value"
        )
