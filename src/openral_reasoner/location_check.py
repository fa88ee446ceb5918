"""Checks the answer of a locator before it is used: its frame, its numbers, its age and its uncertainty."""

from __future__ import annotations

import math
from typing import Any

from openral_core.cli.printable import plain_line

FRAME = "world"
"""Frame of the goals of motions."""
MAX_AGE_S = 2.0
"""[s] greatest age of the picture in which a thing was located."""
MAX_SIGMA_M = 0.05
"""[m] greatest standard deviation of the point along any axis."""

Point = tuple[float, float, float]
"""[m] in the world frame of the scene."""


def frame_fault(response: Any, prefix: str = "") -> str:
    """Return in words that the point of an answer is not in the world frame; empty: it is. Arguments as `point_of`."""
    frame = response.point.header.frame_id
    if frame == f"{prefix}{FRAME}":
        return ""
    return f"the point is in the frame {plain_line(frame, 40)!r}, not in {prefix}{FRAME}"


def point_of(response: Any, prefix: str = "") -> tuple[Point | None, str]:
    """Return the point [m] of a `Locate` response, or None, and in words how it was found or why it is refused.

    Args:
        response: `openral/srv/Locate` response; None: there was none.
        prefix: of the frames of the deployment.
    """
    if response is None or not response.ok:
        return None, plain_line(response.message) if response is not None else "no answer"
    found = response.point.point
    point = (float(found.x), float(found.y), float(found.z))
    spread = [float(response.covariance[i]) for i in (0, 4, 8)]
    if fault := frame_fault(response, prefix):
        return None, fault
    if not all(map(math.isfinite, (*point, *spread, response.age_s))) or min(spread) < 0:
        return None, "the answer holds numbers that are none"
    if response.age_s > MAX_AGE_S:
        return None, f"the picture is {response.age_s:.1f} s old"
    sigma_m = math.sqrt(max(spread))
    if sigma_m > MAX_SIGMA_M:
        return None, f"it is uncertain by {100 * sigma_m:.0f} cm"
    return point, f"found by {plain_line(response.source, 60)} with {100 * sigma_m:.1f} cm of uncertainty"
