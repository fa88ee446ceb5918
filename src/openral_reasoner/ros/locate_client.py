"""Calls the service `perception/locate` for things that are named by words, and checks its answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from openral.srv import Locate
from rclpy.node import Node

from openral_core.graph.namespaces import frame_prefix
from openral_reasoner.location_check import Point, point_of
from openral_reasoner.mission.attempt import FindThing
from openral_reasoner.ros.skill_client import Guard

SERVICE = "perception/locate"


class LocateClient:
    """Serves `FindThing`. It has no time-out of its own; the caller has one."""

    def __init__(self, node: Node, guard: Guard, on_found: Callable[[int, Point | None, str], None]) -> None:
        """Make the client of the service.

        Args:
            node: owner of the client.
            guard: of the node.
            on_found: called with the key of the `FindThing`, the point or None, and why.
        """
        self._node, self._guard, self._on_found = node, guard, on_found
        self._client = node.create_client(Locate, SERVICE)
        self._call: Any = None
        """Future of the newest call."""

    @property
    def ready(self) -> bool:
        """Whether the service is there."""
        return bool(self._client.service_is_ready())

    def find(self, wanted: FindThing) -> None:
        """Call the service; its answer goes to `on_found`. An earlier call that was not answered yet is dropped."""
        if self._call is not None:
            self._client.remove_pending_request(self._call)
        if not self.ready:
            self._on_found(wanted.key, None, f"nobody serves {SERVICE}")
            return
        answered = self._guard(partial(self._answered, wanted.key), SERVICE)
        self._call = self._client.call_async(Locate.Request(words=wanted.words))
        self._call.add_done_callback(answered)

    def close(self) -> None:
        """Destroy the client."""
        self._node.destroy_client(self._client)

    def _answered(self, key: int, future: Any) -> None:
        point, why = point_of(future.result(), frame_prefix(self._node.get_namespace()))
        self._on_found(key, point, why)
