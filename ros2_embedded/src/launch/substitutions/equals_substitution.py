"""Comparison of values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..frontend.expose import expose_substitution
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


@expose_substitution("equals")
class EqualsSubstitution(Substitution):
    """'true' when both sides are equal: as numbers if both are numbers, as truth values if both are, else as
    text."""

    def __init__(self, left: Any, right: Any) -> None:
        self._left = normalize_to_list_of_substitutions(_plain(left))
        self._right = normalize_to_list_of_substitutions(_plain(right))

    @classmethod
    def parse(cls, data: list[list[Substitution]]) -> tuple[Any, dict[str, Any]]:
        """Return how to make `$(equals left right)`."""
        left, right = data
        return cls, {"left": left, "right": right}

    @property
    def left(self) -> list[Substitution]:
        """The left side."""
        return self._left

    @property
    def right(self) -> list[Substitution]:
        """The right side."""
        return self._right

    def describe(self) -> str:
        """Return both sides."""
        sides = (" + ".join(sub.describe() for sub in side) for side in (self._left, self._right))
        return f"{type(self).__name__}({' '.join(sides)})"

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(self._equal(context)).lower()

    def _equal(self, context: LaunchContext) -> bool:
        left = perform_substitutions(context, self._left)
        right = perform_substitutions(context, self._right)
        truths = [_TRUTH.get(side.lower()) for side in (left, right)]
        if None not in truths:
            return truths[0] == truths[1]
        try:
            return math.isclose(float(left), float(right))
        except ValueError:
            return left == right


_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    return str(value) if isinstance(value, (bool, int, float)) else value


@expose_substitution("not-equals")
class NotEqualsSubstitution(EqualsSubstitution):
    """'true' when both sides differ."""

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(not self._equal(context)).lower()
