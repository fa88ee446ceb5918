"""Logic on substitutions that spell truth values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.values import parse_bool

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


def _truth(context: LaunchContext, value: list[Substitution]) -> bool:
    return parse_bool(perform_substitutions(context, value), "operand")


class _Logic(Substitution):
    """Truth values under one operator; the result is spelled 'true' or 'false'."""

    def __init__(self, *values: SomeSubstitutionsType) -> None:
        self._values = [normalize_to_list_of_substitutions(value) for value in values]

    def describe(self) -> str:
        """Return the operator and its operands."""
        operands = ", ".join(" + ".join(sub.describe() for sub in value) for value in self._values)
        return f"{type(self).__name__}({operands})"

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'; raise SubstitutionFailure when an operand is neither."""
        return str(self._decide(context)).lower()

    def _truths(self, context: LaunchContext) -> list[bool]:
        """All operands, so that a wrong one is found whatever the others are."""
        return [_truth(context, value) for value in self._values]

    def _decide(self, context: LaunchContext) -> bool:
        raise NotImplementedError


class _UnaryLogic(_Logic):
    """An operator with one operand."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        super().__init__(value)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(operator value)`."""
        (value,) = data
        return cls, {"value": value}

    @property
    def value(self) -> list[Substitution]:
        """The operand."""
        return self._values[0]


@expose_substitution("not")
class NotSubstitution(_UnaryLogic):
    """True when the operand is false."""

    def _decide(self, context: LaunchContext) -> bool:
        return not _truth(context, self.value)


class _BinaryLogic(_Logic):
    """An operator with a left and a right operand."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        super().__init__(left, right)

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(operator left right)`."""
        left, right = data
        return cls, {"left": left, "right": right}

    @property
    def left(self) -> list[Substitution]:
        """The left operand."""
        return self._values[0]

    @property
    def right(self) -> list[Substitution]:
        """The right operand."""
        return self._values[1]


@expose_substitution("and")
class AndSubstitution(_BinaryLogic):
    """True when both operands are."""

    def _decide(self, context: LaunchContext) -> bool:
        return all(self._truths(context))


@expose_substitution("or")
class OrSubstitution(_BinaryLogic):
    """True when one operand is."""

    def _decide(self, context: LaunchContext) -> bool:
        return any(self._truths(context))


class _NaryLogic(_Logic):
    """An operator with any number of operands."""

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(operator values...)`."""
        return lambda: cls(*data), {}

    @property
    def args(self) -> list[list[Substitution]]:
        """The operands."""
        return self._values


@expose_substitution("any")
class AnySubstitution(_NaryLogic):
    """True when at least one of any number of operands is."""

    def _decide(self, context: LaunchContext) -> bool:
        return any(self._truths(context))


@expose_substitution("all")
class AllSubstitution(_NaryLogic):
    """True when each of any number of operands is."""

    def _decide(self, context: LaunchContext) -> bool:
        return all(self._truths(context))


@expose_substitution("bool")
class BooleanSubstitution(_UnaryLogic):
    """The operand as 'true' or 'false', whatever its spelling."""

    def _decide(self, context: LaunchContext) -> bool:
        return _truth(context, self.value)
