"""The services by which other programs control a recording: those of rosbag2's recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.node import Node

    from .recorder import Recorder


class RecordServices:
    """Offers `pause`, `resume`, `is_paused`, `split_bagfile` and `snapshot` below the name of a node."""

    def __init__(self, node: Node, recorder: Recorder, *, snapshots: bool = False) -> None:
        """Make the services; they are answered while the node is spun.

        Args:
            node: of the recorder.
            recorder: what to control.
            snapshots: whether there are snapshots to take.
        """
        from rosbag2_interfaces import srv

        self._recorder = recorder
        node.create_service(srv.Pause, "~/pause", self._pause)
        node.create_service(srv.Resume, "~/resume", self._resume)
        node.create_service(srv.IsPaused, "~/is_paused", self._is_paused)
        node.create_service(srv.SplitBagfile, "~/split_bagfile", self._split)
        if snapshots:
            node.create_service(srv.Snapshot, "~/snapshot", self._snapshot)

    def _pause(self, request: Any, response: Any) -> Any:
        self._recorder.catch_up()
        self._recorder.paused = True
        return response

    def _resume(self, request: Any, response: Any) -> Any:
        self._recorder.catch_up()
        self._recorder.paused = False
        return response

    def _is_paused(self, request: Any, response: Any) -> Any:
        response.paused = self._recorder.paused
        return response

    def _split(self, request: Any, response: Any) -> Any:
        self._recorder.catch_up()
        self._recorder.writer.split_bagfile()
        return response

    def _snapshot(self, request: Any, response: Any) -> Any:
        self._recorder.catch_up()
        response.success = self._recorder.writer.take_snapshot()
        return response
