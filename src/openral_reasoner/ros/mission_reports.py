"""Where steps and states of missions go: the node's log, its topics, the record on disk, and pictures of attempts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rclpy.node import Node

from openral_reasoner.mission.mission import LogEntry, Mission, MissionState
from openral_reasoner.mission.record import MissionWriter
from openral_reasoner.ros.attempt_pictures import AttemptPictures
from openral_reasoner.ros.mission_publisher import MissionPublisher
from openral_reasoner.ros.perception_client import CameraAndMonitor


class MissionReports:
    """Reports the missions of one node. Not thread-safe."""

    def __init__(self, node: Node) -> None:
        """Begin with the node's log alone."""
        self._node = node
        self._run_dir: Path | None = None
        self._record: MissionWriter | None = None
        self._publisher: MissionPublisher | None = None
        self._pictures: AttemptPictures | None = None
        self._changed = True
        self._shown: tuple[Mission, MissionState] | None = None
        """The mission that was published last, and its state then."""

    def open_record(self, run_dir: str, log: Callable[[LogEntry], None]) -> Mission | None:
        """Record in a run folder, which is made; return the mission that was in work there when its process ended.

        Args:
            run_dir: the folder; empty: nothing is recorded.
            log: called with the steps of that mission from now on.

        Raises:
            OutputError: the folder cannot be written.
            ManifestError: its mission cannot be read.
        """
        self._run_dir = Path(run_dir) if run_dir else None
        self._record = MissionWriter(self._run_dir) if self._run_dir else None
        return self._record.unfinished(log) if self._record else None

    def close_record(self) -> None:
        """Close the record, if there is one."""
        if self._record:
            self._record.close()
        self._record = None

    def publish(self) -> None:
        """Publish on the node's topics from now on."""
        self._publisher = MissionPublisher(self._node)

    def take_pictures(self, perception: CameraAndMonitor | None) -> None:
        """Keep pictures of the ends of attempts in the run folder; None, or no folder: none are kept."""
        self._pictures = AttemptPictures(self._run_dir, perception) if self._run_dir and perception else None

    def close(self) -> None:
        """Close the record and destroy the publishers."""
        if self._publisher is not None:
            self._publisher.close()
        self._publisher = self._shown = None
        self.close_record()

    def step(self, entry: LogEntry) -> None:
        """Report a step of the mission log; readings go to the record alone."""
        self._changed = True
        if entry.kind != "reading":
            self._node.get_logger().info(f"{entry.kind}: {entry.reason}")
            if self._publisher is not None:
                self._publisher.step(entry)
        if self._record:
            self._record.step(entry, time.time())
        if self._pictures:
            self._pictures.heard(entry)

    def state(self, mission: Mission) -> None:
        """Publish and write the present mission if there was a step since the last call."""
        if not self._changed:
            return
        self._changed = False
        before, shown = self._shown or (None, None)
        if before is not None and before is not mission and before.state is not shown:
            self._tell(before)  # for those who follow the mission that was replaced
        self._shown = (mission, mission.state)
        self._tell(mission)

    def _tell(self, mission: Mission) -> None:
        if self._publisher is not None:
            self._publisher.tell(mission)
        if self._record:
            self._record.state(mission)

    def wait_until_delivered(self) -> None:
        """Return when every subscriber has received the newest mission, or after `DELIVERY_S`."""
        if self._publisher is not None:
            self._publisher.wait_until_delivered()
