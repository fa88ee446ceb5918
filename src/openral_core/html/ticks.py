"""Round numbers for the ticks of an axis."""

from __future__ import annotations

import math

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Candidates for the distance of two ticks, times a power of ten."""


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from `low` to `high`, evenly spaced and as many as fit; `low` alone for an empty range.

    Args:
        low: least value of the axis.
        high: greatest value of the axis.
        most: ticks that there may be.
    """
    if not high > low:
        return [low]
    least = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(step for share in STEPS if (step := share * power) >= least * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
