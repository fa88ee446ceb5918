"""The ranges that descriptors of parameters set."""

from __future__ import annotations

import math
from typing import Any

RELATIVE_TOLERANCE = 1e-6
"""Numbers that differ by less, relatively, count as a bound or a step of a range."""


def check_range(value: float, descriptor: Any, tolerance: float = RELATIVE_TOLERANCE) -> str:
    """Why a number is outside the range of a descriptor, or an empty text.

    A value is inside when it is a bound, or between them and a whole number of steps above the lower one. The
    bounds come in any order. Doubles have a tolerance, as those that were single-precision numbers need.
    """
    is_float = isinstance(value, float)
    ranges = descriptor.floating_point_range if is_float else descriptor.integer_range
    if not ranges:
        return ""
    limits = ranges[0]
    low, high = sorted((limits.from_value, limits.to_value))
    step = limits.step
    if any(
        math.isclose(value, edge, rel_tol=tolerance) if is_float else value == edge for edge in (low, high)
    ):
        return ""
    if not low < value < high:
        return f"Parameter {descriptor.name} out of range. Min: {low}, Max: {high}, value: {value}"
    if not step:
        return ""
    if is_float:
        nearest = low + round((value - low) / step) * step
        on_grid = math.isclose(nearest, value, rel_tol=tolerance, abs_tol=tolerance * abs(step))
    else:
        on_grid = (value - low) % step == 0
    return "" if on_grid else f"The parameter value for {descriptor.name} is not a valid step. Step: {step}"
