"""A value from the locals of the context."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from ..substitution import Substitution
from ..substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LocalSubstitution(Substitution):
    """An attribute path into the context's locals, such as `event.reason`."""

    def __init__(self, expression: str, description: str | None = None) -> None:
        self.__expression = expression
        self.__description = description

    @property
    def expression(self) -> str:
        """The attribute path."""
        return self.__expression

    def describe(self) -> str:
        """Return the description, or the attribute path."""
        return f"LocalVar('{self.__description or self.__expression}')"

    def perform(self, context: LaunchContext) -> str:
        """Return the value as text; raise SubstitutionFailure when there is none."""
        try:
            return str(operator.attrgetter(self.__expression)(context.locals))
        except AttributeError as error:
            raise SubstitutionFailure(f"local '{self.__expression}' is not there: {error}") from error
