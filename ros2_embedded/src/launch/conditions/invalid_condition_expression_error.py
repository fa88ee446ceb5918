"""The error of conditions."""

from __future__ import annotations


class InvalidConditionExpressionError(ValueError):
    """The expression of a condition is no truth value."""
