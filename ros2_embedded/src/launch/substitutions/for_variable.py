"""The values of an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


def local_name(name: str) -> str:
    """Return the name under which the context's locals hold a value of an iteration."""
    return f"for_value_{name}"


@expose_substitution("for-var")
class ForEachVar(Substitution):
    """A value of the iteration at work in `ForEach`, or a default."""

    def __init__(
        self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None
    ) -> None:
        self.__name = normalize_to_list_of_substitutions(name)
        self.__default = None if default_value is None else normalize_to_list_of_substitutions(default_value)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(for-var name [default])`."""
        name, *rest = data
        return cls, {"name": name, "default_value": rest[0] if rest else None}

    @property
    def name(self) -> list[Substitution]:
        """The name."""
        return self.__name

    @classmethod
    def get_local_arg_name(cls, name: str) -> str:
        """Return the name under which the context's locals hold a value."""
        return local_name(name)

    @property
    def default_value(self) -> list[Substitution] | None:
        """What it is where the iteration has no such value."""
        return self.__default

    def describe(self) -> str:
        """Return the name in words."""
        return f"{type(self).__name__}({' + '.join(sub.describe() for sub in self.__name)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value; raise SubstitutionFailure when there is none and no default."""
        name = perform_substitutions(context, self.__name)
        values = context.get_locals_as_dict()
        if local_name(name) in values:
            return str(values[local_name(name)])
        if self.__default is not None:
            return perform_substitutions(context, self.__default)
        raise SubstitutionFailure(f"no loop around here has a value '{name}'")


@expose_substitution("index")
class ForLoopIndex(ForEachVar):
    """The number of the iteration at work in the `ForLoop` of a name."""

    def __init__(self, name: SomeSubstitutionsType) -> None:
        super().__init__(name)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(index name)`."""
        (name,) = data
        return cls, {"name": name}
