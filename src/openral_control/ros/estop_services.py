"""The services and the state topic of the emergency stop."""

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
    """Offers the services `estop` and `estop_reset` and the latched topic `estop_state`.

    A lock makes sure that states are published in the order of the requests.
    """

    def __init__(self, node: LifecycleNode, latch: EStopLatch, switched: Callable[[bool], None]) -> None:
        """Create services and topic, and log if the stop is latched already.

        Args:
            node: which offers them until it is destroyed.
            latch: persistent state of the stop.
            switched: called with True to make the arm hold, with False to allow motion, before the state is published.
        """
        self._node, self._latch, self._switched = node, latch, switched
        self._lock = threading.Lock()
        self._publisher = node.create_publisher(Bool, "estop_state", LATCHED)
        # The emergency stop must not wait for a callback that resets the scene.
        group = MutuallyExclusiveCallbackGroup()
        node.create_service(Trigger, "estop", self._on_stop, callback_group=group)
        reset = node.create_service(Trigger, "estop_reset", self._on_reset, callback_group=group)
        self._reset = str(reset.service_name)
        """Fully qualified name of the service that releases the stop."""
        if latch.latched:
            why = f" ({latch.fault})" if latch.fault else ""
            node.get_logger().error(
                f"the emergency stop is still latched, as {latch.path} remembers{why}: nothing moves; "
                f"see that all is safe, then call {self._reset}"
            )

    @property
    def latched(self) -> bool:
        """Whether the stop is latched, so that nothing may move."""
        return self._latch.latched

    def apply(self) -> None:
        """Call `switched` with the present state, for a run that began after the last change, and publish the state."""
        with self._lock:
            self._switched(self._latch.latched)
            self._publisher.publish(Bool(data=self._latch.latched))

    def _on_stop(self, request: Any, response: Any) -> Any:
        with self._lock:
            self._latch.latched = True
            self._switched(True)
            self._publisher.publish(Bool(data=True))
            self._latch.latch()  # last, since the disk may be slow
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
