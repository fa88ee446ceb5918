"""Truth values of condition expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..substitution import Substitution
from .if_condition import IfCondition

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


def evaluate_condition_expression(context: LaunchContext, expression: Iterable[Substitution]) -> bool:
    """Return the truth value `expression` spells; raise InvalidConditionExpressionError if it spells none."""
    return IfCondition(list(expression)).evaluate(context)
