"""Run an action if a value is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from .invalid_condition_expression_error import InvalidConditionExpressionError

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class IfCondition(Condition):
    """Holds when the expression is 'true' or '1', in any case; 'false' and '0' do not; all else is an
    error."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self.__expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=self._holds)

    def _holds(self, context: LaunchContext) -> bool:
        word = perform_substitutions(context, self.__expression).strip().lower()
        if word not in ("true", "1", "false", "0"):
            raise InvalidConditionExpressionError(
                f"condition {self.describe()} is {word!r}; expected one of true, 1, false, 0"
            )
        return word in ("true", "1")

    def describe(self) -> str:
        """Return the expression in words."""
        return f"{type(self).__name__}({' + '.join(sub.describe() for sub in self.__expression)})"
