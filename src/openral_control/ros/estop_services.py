"""The services and the topic of the emergency stop: one place decides, and publishes in the order of its decisions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from openral_control.estop_latch import EStopLatch
from openral_core.ros.qos import LATCHED


class EStop:
    """`estop`, `estop_reset` and the latched `estop_state`."""

    def __init__(self, node: LifecycleNode, latch: EStopLatch, switched: Callable[[bool], None]) -> None:
        """Offer them, and say in which state the stop is.

        Args:
            node: which offers them, as long as it lives.
            latch: the stop's memory.
            switched: makes the arm hold, or allows it to move again. Called before the state is published.
        """
        self._node, self._latch, self._switched = node, latch, switched
        self._lock = threading.Lock()
        self._publisher = node.create_publisher(Bool, "estop_state", LATCHED)
        # A reset of the scene waits for the world; the emergency stop must not wait for it.
        group = MutuallyExclusiveCallbackGroup()
        node.create_service(Trigger, "estop", self._on_stop, callback_group=group)
        reset = node.create_service(Trigger, "estop_reset", self._on_reset, callback_group=group)
        self._reset = str(reset.service_name)
        """Full name of the service that releases the stop."""
        if latch.latched:
            why = f" ({latch.fault})" if latch.fault else ""
            node.get_logger().error(
                f"the emergency stop is still latched, as {latch.path} remembers{why}: nothing moves; "
                f"see that all is safe, then call {self._reset}"
            )

    @property
    def latched(self) -> bool:
        """Whether nothing may move."""
        return self._latch.latched

    def apply(self) -> None:
        """Bring the state to whoever began after it was reached, and publish it."""
        with self._lock:
            self._switched(self._latch.latched)
            self._publisher.publish(Bool(data=self._latch.latched))

    def _on_stop(self, request: Any, response: Any) -> Any:
        with self._lock:
            self._latch.latched = True
            self._switched(True)
            self._publisher.publish(Bool(data=True))
            self._latch.latch()  # the disk may be slow: the arm holds already
            return self._answer(response, "latched", f"the arm holds until {self._reset}")

    def _on_reset(self, request: Any, response: Any) -> Any:
        with self._lock:
            self._latch.release()
            self._switched(False)
            self._publisher.publish(Bool(data=False))
            return self._answer(response, "released", "ready for new goals")

    def _answer(self, response: Any, what: str, meaning: str) -> Any:
        response.success, response.message = True, meaning
        if self._latch.fault:
            response.message += f"; a bridge that is started again will not know: {self._latch.fault}"
        self._node.get_logger().warning(f"emergency stop {what}: {response.message}")
        return response
