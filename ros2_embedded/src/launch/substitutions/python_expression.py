"""The value of an expression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure
from ..utilities.expression import ExpressionError, evaluate
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class UnknownNameInExpression(SubstitutionFailure, NameError):
    """An expression uses a name that nothing defines."""


@expose_substitution("eval")
class PythonExpression(Substitution):
    """The value, as text, of a Python expression put together from substitutions.

    Args:
        expression: the expression; its parts are concatenated before it is evaluated.
        python_modules: modules whose names the expression may use, from the list in
            `launch.utilities.expression`.
    """

    def __init__(
        self, expression: SomeSubstitutionsType, python_modules: Iterable[SomeSubstitutionsType] = ("math",)
    ) -> None:
        self.__expression = normalize_to_list_of_substitutions(expression)
        modules = (
            [python_modules] if isinstance(python_modules, (str, Substitution)) else list(python_modules)
        )
        self.__modules = [normalize_to_list_of_substitutions(module) for module in modules]

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(eval expression [modules])`."""
        expression, *rest = data
        keywords: dict[str, Any] = {"expression": expression}
        if rest:
            keywords["python_modules"] = _split_names(rest[0])
        return cls, keywords

    @property
    def expression(self) -> list[Substitution]:
        """The parts of the expression."""
        return self.__expression

    @property
    def python_modules(self) -> list[list[Substitution]]:
        """The names of the modules the expression may use."""
        return self.__modules

    def describe(self) -> str:
        """Return the expression and its modules in words."""
        expression = " + ".join(sub.describe() for sub in self.__expression)
        modules = ", ".join(" + ".join(sub.describe() for sub in module) for module in self.__modules)
        return f"PythonExpr({expression}, [{modules}])"

    def perform(self, context: LaunchContext) -> str:
        """Evaluate; raise SubstitutionFailure when the expression is refused or fails, which is a NameError,
        too, for a name that nothing defines."""
        text = perform_substitutions(context, self.__expression)
        modules = [perform_substitutions(context, module) for module in self.__modules]
        try:
            return str(evaluate(text, modules))
        except ExpressionError as error:
            unknown = isinstance(error.__cause__, NameError)
            kind = UnknownNameInExpression if unknown else SubstitutionFailure
            raise kind(f"Python expression {text!r}: {error}") from error


def _split_names(parts: list[Substitution]) -> list[SomeSubstitutionsType]:
    """Return the names in text with commas; what is not plain text is one name."""
    from .text_substitution import TextSubstitution

    if all(isinstance(part, TextSubstitution) for part in parts):
        text = "".join(part.text for part in parts if isinstance(part, TextSubstitution))
        return [name.strip() for name in text.split(",")]
    return [parts]
