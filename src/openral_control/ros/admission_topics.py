"""Wires the admission of chunks to the graph: who announces what, and which chunks come."""

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
"""Chunks that may wait to be looked at, so that a flood of a stranger's does not wash away those that count."""
LOOK_S, LOOKS_A_GRAPH = 0.1, 10
"""[s] between two looks at what waits; how many of them for one look at the graph."""
THROTTLE_S = 1.0
"""[s] between two log lines about what was turned away."""


class AdmissionTopics:
    """Subscribes to `action_chunk` and `skills`."""

    def __init__(self, node: LifecycleNode, admit: Callable[[Chunk], None]) -> None:
        """Subscribe.

        Args:
            node: which listens.
            admit: gets the chunks of announced goals.
        """
        self._node = node
        self._lock = threading.Lock()
        self._admission = Admission(admit, self._refused)
        self._looks = 0
        self.malformed = 0
        """Messages with a field that was not right, since the start; chunks of a known goal are not among them."""
        group = MutuallyExclusiveCallbackGroup()  # what waits for a reset of the scene must not hold this up
        subscribe = node.create_subscription
        subscribe(SkillInfo, "skills", self._on_skill, SKILLS, callback_group=group)
        subscribe(ActionChunk, "action_chunk", self._on_chunk, CHUNKS, callback_group=group)
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(LOOK_S, self._look, callback_group=group, clock=wall)

    @property
    def refused(self) -> int:
        """Chunks of goals that nobody held, since the start."""
        return self._admission.refused

    def holds(self, goal_id: str) -> bool:
        """Whether some node announces this goal; may be called from any thread."""
        with self._lock:
            return self._admission.holds(goal_id)

    def end_all(self) -> None:
        """Let no chunk of the goals of this moment pass any more; may be called from any thread."""
        with self._lock:
            self._admission.end_all()

    def _on_chunk(self, message: ActionChunk) -> None:
        try:
            chunk = read_chunk(message)
        except ContractError as error:
            # Its goal suffers by it, where that is known: what the goal planned before may be as wrong.
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
            # A chunk is often under way when its goal ends; the diagnostics count it.
            self._node.get_logger().debug(f"a chunk of {chunk.skill} came late: {reason}")
            return
        self._node.get_logger().warning(
            f"a chunk of {chunk.skill or 'an unnamed skill'} is not executed: {reason}",
            throttle_duration_sec=THROTTLE_S,
        )
