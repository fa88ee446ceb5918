"""Asks the graph where a thing is, by words; what answers `/openral/perception/locate` is checked before it counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from openral.srv import Locate
from rclpy.node import Node

from openral_reasoner.mission.attempt import FindThing
from openral_reasoner.plain_line import plain_line
from openral_reasoner.ros.skill_client import Guard

SERVICE = "/openral/perception/locate"
FRAME = "world"
"""Frame in which motions are ordered."""
MAX_AGE_S = 2.0
"""[s] an older picture says too little about where a thing is now."""
MAX_SIGMA_M = 0.05
"""[m] a point that is less certain than this, along any axis, is no place to send a hand to."""

Point = tuple[float, float, float]
"""[m] in the world frame of the scene."""


class LocateClient:
    """Serves `FindThing`. Who waits for an answer has a patience of its own."""

    def __init__(self, node: Node, guard: Guard, on_found: Callable[[int, Point | None, str], None]) -> None:
        """Look for the service.

        Args:
            node: owner of the client.
            guard: of the node.
            on_found: key of the question, the point or None, and why.
        """
        self._node, self._guard, self._on_found = node, guard, on_found
        self._client = node.create_client(Locate, SERVICE)

    @property
    def ready(self) -> bool:
        """Somebody serves it."""
        return bool(self._client.service_is_ready())

    def find(self, wanted: FindThing) -> None:
        """Ask; the answer goes to `on_found`."""
        if not self.ready:
            self._on_found(wanted.key, None, f"nobody serves {SERVICE}")
            return
        answered = self._guard(partial(self._answered, wanted.key), SERVICE)
        self._client.call_async(Locate.Request(words=wanted.words)).add_done_callback(answered)

    def close(self) -> None:
        """Take back what was made on the node."""
        self._node.destroy_client(self._client)

    def _answered(self, key: int, future: Any) -> None:
        point, why = point_of(future.result())
        self._on_found(key, point, why)


def point_of(response: Any) -> tuple[Point | None, str]:
    """Return the point of a `Locate` response, or None, and why."""
    if response is None or not response.ok:
        return None, plain_line(response.message) if response is not None else "no answer"
    found = response.point.point
    point = (float(found.x), float(found.y), float(found.z))
    spread = [float(response.covariance[i]) for i in (0, 4, 8)]
    if response.point.header.frame_id != FRAME:
        return (
            None,
            f"the point is in the frame {plain_line(response.point.header.frame_id, 40)!r}, not in {FRAME}",
        )
    if not all(map(math.isfinite, (*point, *spread, response.age_s))) or min(spread) < 0:
        return None, "the answer holds numbers that are none"
    if response.age_s > MAX_AGE_S:
        return None, f"the picture is {response.age_s:.1f} s old"
    sigma_m = math.sqrt(max(spread))
    if sigma_m > MAX_SIGMA_M:
        return None, f"it is uncertain by {100 * sigma_m:.0f} cm"
    return point, f"found by {plain_line(response.source, 60)} with {100 * sigma_m:.1f} cm of uncertainty"
