"""The subscriptions to announcements and action chunks, which feed the admission of chunks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from openral.msg import ActionChunk, SkillInfo
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleNode

from openral_control.admission import Admission
from openral_control.chunk_queue import Chunk
from openral_control.message_checks import read_announcement, read_chunk, unreadable_chunk
from openral_core.errors import ContractError
from openral_core.ros.qos import SKILLS

CHUNKS = 128
"""Queue depth of the subscription, so that many chunks of a foreign node do not displace those of announced goals."""
LOOK_S, LOOKS_A_GRAPH = 0.1, 10
"""[s] period of the check of waiting chunks; number of those periods from one query of the graph to the next."""
THROTTLE_S = 1.0
"""[s] least time between two log lines about refused messages."""


class AdmissionTopics:
    """Subscribes to `action_chunk` and `skills`, and passes the chunks of announced goals on."""

    def __init__(self, node: LifecycleNode, admit: Callable[[Chunk], None]) -> None:
        """Subscribe.

        Args:
            node: which subscribes.
            admit: called with the chunks of announced goals.
        """
        self._node = node
        self._lock = threading.Lock()
        self._admission = Admission(admit, self._refused)
        self._looks = 0
        self.malformed = 0
        """Number of messages with an invalid field since the start, without chunks whose goal could be read."""
        group = (
            MutuallyExclusiveCallbackGroup()
        )  # not blocked by a callback that waits for a reset of the scene
        subscribe = node.create_subscription
        subscribe(SkillInfo, "skills", self._on_skill, SKILLS, callback_group=group)
        subscribe(ActionChunk, "action_chunk", self._on_chunk, CHUNKS, callback_group=group)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(LOOK_S, self._look, callback_group=group, clock=wall)

    @property
    def refused(self) -> int:
        """Number of chunks since the start whose goal no node held."""
        return self._admission.refused

    def holds(self, goal_id: str) -> bool:
        """Return whether a node announces this goal; may be called from any thread."""
        with self._lock:
            return self._admission.holds(goal_id)

    def end_all(self) -> None:
        """End all goals that are held now, so that no further chunk of them passes; may be called from any thread."""
        with self._lock:
            self._admission.end_all()

    def _on_chunk(self, message: ActionChunk) -> None:
        try:
            chunk = read_chunk(message)
        except ContractError as error:
            # If its goal is known, it counts against the goal, whose earlier chunks may be as wrong.
            unreadable = unreadable_chunk(message, str(error))
            if unreadable is None:
                self._dropped("an action chunk", error)
                return
            chunk = unreadable
        with self._lock:
            self._admission.offer(chunk, time.monotonic())

    def _on_skill(self, message: SkillInfo) -> None:
        try:
            said = read_announcement(message)
            with self._lock:
                self._admission.announce(said, time.monotonic())
        except (ContractError, LookupError) as error:
            self._dropped("a message on /openral/skills", error)

    def _look(self) -> None:
        self._looks += 1
        present = None
        if self._looks % LOOKS_A_GRAPH == 0:
            found = self._node.get_node_names_and_namespaces()
            present = {f"{space.rstrip('/')}/{name}" for name, space in found}
        with self._lock:
            self._admission.look(present, time.monotonic())

    def _dropped(self, what: str, error: Exception) -> None:
        self.malformed += 1
        self._node.get_logger().warning(f"dropped {what}: {error}", throttle_duration_sec=THROTTLE_S)

    def _refused(self, chunk: Chunk, reason: str) -> None:
        if self._admission.has_ended(chunk.goal_id):
            # This is common, since a chunk may be in transit when its goal ends; the diagnostics count it.
            self._node.get_logger().debug(f"a chunk of {chunk.skill} came late: {reason}")
            return
        self._node.get_logger().warning(
            f"a chunk of {chunk.skill or 'an unnamed skill'} is not executed: {reason}",
            throttle_duration_sec=THROTTLE_S,
        )
