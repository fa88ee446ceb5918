"""The services by which other programs control a bag that is played: those of rosbag2's player."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from .player import Player

if TYPE_CHECKING:
    from rclpy.node import Node

_NS = 10**9
_BURST_S = 60.0
"""[s] that a burst may take before its service answers."""


class PlayServices:
    """Offers the services of rosbag2_interfaces on the node of a player, each below the node's own name.

    They are `pause`, `resume`, `toggle_paused`, `is_paused`, `get_rate`, `set_rate`, `play_next`, `burst`,
    `seek`, `stop`, and `play`, which is there and refuses.
    """

    def __init__(self, node: Node, player: Player) -> None:
        """Make the services; they are answered while the node is spun."""
        from rosbag2_interfaces import srv

        self.node, self._player, self._pace = node, player, player.pace
        answers: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
            "pause": (srv.Pause, partial(_do, partial(self._pace.pause, True))),
            "resume": (srv.Resume, partial(_do, partial(self._pace.pause, False))),
            "toggle_paused": (srv.TogglePaused, partial(_do, self._pace.toggle)),
            "stop": (srv.Stop, partial(_do, self._pace.stop)),
            "is_paused": (srv.IsPaused, self._is_paused),
            "get_rate": (srv.GetRate, self._get_rate),
            "set_rate": (srv.SetRate, self._set_rate),
            "play_next": (srv.PlayNext, self._play_next),
            "burst": (srv.Burst, self._burst),
            "seek": (srv.Seek, self._seek),
            "play": (srv.Play, self._play),
        }
        for name, (kind, answer) in answers.items():
            node.create_service(kind, f"~/{name}", answer)

    def _is_paused(self, request: Any, response: Any) -> Any:
        response.paused = self._pace.paused
        return response

    def _get_rate(self, request: Any, response: Any) -> Any:
        response.rate = self._pace.rate
        return response

    def _set_rate(self, request: Any, response: Any) -> Any:
        """Refuse rates at which the bag would stand still, run backwards or never end."""
        response.success = 0.0 < request.rate < float("inf")
        if response.success:
            self._pace.set_rate(request.rate)
        return response

    def _play_next(self, request: Any, response: Any) -> Any:
        """Publish the next message, if playing stands still."""
        response.success = self._pace.burst(1, _BURST_S) == 1
        return response

    def _burst(self, request: Any, response: Any) -> Any:
        """Publish so many messages at once, if playing stands still; 0: all that are left."""
        response.actually_burst = self._pace.burst(request.num_messages, _BURST_S)
        return response

    def _seek(self, request: Any, response: Any) -> Any:
        """Go to a moment of the bag; False where it has none such."""
        stamp, bag = request.time.sec * _NS + request.time.nanosec, self._player.reader.get_metadata()
        response.success = bag.starting_time_ns <= stamp <= bag.starting_time_ns + bag.duration_ns
        if response.success:
            self._pace.jump(stamp)
        return response

    def _play(self, request: Any, response: Any) -> Any:
        """Never begins a second playback: the node lives as long as the first one."""
        response.success = False
        return response


def _do(action: Callable[[], object], request: Any, response: Any) -> Any:
    action()
    return response


@contextlib.contextmanager
def served(services: PlayServices) -> Iterator[None]:
    """Answer the services in a thread of their own, as long as the block lasts."""
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    executor = SingleThreadedExecutor()
    executor.add_node(services.node)

    def spin() -> None:
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, name="services", daemon=True)
    thread.start()
    try:
        yield
    finally:
        executor.shutdown(timeout_sec=2.0)
        thread.join(timeout=2.0)
