"""Whether an answer about where a thing is may be believed: its frame, its numbers, its age, its uncertainty."""

from __future__ import annotations

import math
from typing import Any

from openral_reasoner.plain_line import plain_line

FRAME = "world"
"""Frame in which motions are ordered."""
MAX_AGE_S = 2.0
"""[s] an older picture says too little about where a thing is now."""
MAX_SIGMA_M = 0.05
"""[m] a point that is less certain than this, along any axis, is no place to send a hand to."""

Point = tuple[float, float, float]
"""[m] in the world frame of the scene."""


def point_of(response: Any, prefix: str = "") -> tuple[Point | None, str]:
    """Return the point of a `Locate` response, or None, and why.

    Args:
        response: of the locator.
        prefix: of the frames of the deployment.
    """
    if response is None or not response.ok:
        return None, plain_line(response.message) if response is not None else "no answer"
    found = response.point.point
    point = (float(found.x), float(found.y), float(found.z))
    spread = [float(response.covariance[i]) for i in (0, 4, 8)]
    if response.point.header.frame_id != f"{prefix}{FRAME}":
        return (
            None,
            f"the point is in the frame {plain_line(response.point.header.frame_id, 40)!r}, not in {prefix}{FRAME}",
        )
    if not all(map(math.isfinite, (*point, *spread, response.age_s))) or min(spread) < 0:
        return None, "the answer holds numbers that are none"
    if response.age_s > MAX_AGE_S:
        return None, f"the picture is {response.age_s:.1f} s old"
    sigma_m = math.sqrt(max(spread))
    if sigma_m > MAX_SIGMA_M:
        return None, f"it is uncertain by {100 * sigma_m:.0f} cm"
    return point, f"found by {plain_line(response.source, 60)} with {100 * sigma_m:.1f} cm of uncertainty"
