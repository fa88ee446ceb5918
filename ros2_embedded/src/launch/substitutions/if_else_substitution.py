"""A choice between two values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.values import parse_bool

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("if")
class IfElseSubstitution(Substitution):
    """One value if a condition is true, another one if not; each is '' by default, and one must be given."""

    def __init__(
        self,
        condition: SomeSubstitutionsType,
        if_value: SomeSubstitutionsType = "",
        else_value: SomeSubstitutionsType = "",
    ) -> None:
        if if_value == else_value == "":
            raise RuntimeError("IfElseSubstitution needs an if_value or an else_value")
        self.__condition = normalize_to_list_of_substitutions(condition)
        self.__if_value = normalize_to_list_of_substitutions(if_value)
        self.__else_value = normalize_to_list_of_substitutions(else_value)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(if condition value [otherwise])`."""
        condition, if_value, *rest = data
        return cls, {"condition": condition, "if_value": if_value, "else_value": rest[0] if rest else ""}

    @property
    def condition(self) -> list[Substitution]:
        """The condition."""
        return self.__condition

    @property
    def if_value(self) -> list[Substitution]:
        """The value when it holds."""
        return self.__if_value

    @property
    def else_value(self) -> list[Substitution]:
        """The value when it does not."""
        return self.__else_value

    def describe(self) -> str:
        """Return the condition and both values."""
        parts = (self.__condition, self.__if_value, self.__else_value)
        return f"IfElse({', '.join(' + '.join(sub.describe() for sub in part) for part in parts)})"

    def perform(self, context: LaunchContext) -> str:
        """Return the value chosen; raise SubstitutionFailure when the condition is no truth value."""
        chosen = (
            self.__if_value
            if parse_bool(perform_substitutions(context, self.__condition), "condition")
            else self.__else_value
        )
        return perform_substitutions(context, chosen)
