"""A camera and a bridge's clock and status, as far as the reward monitor sees them."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from openral.msg import ControlStatus, TaskProgress
from openral.srv import QueryTaskProgress
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState

BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
BYTES = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1, "16UC1": 2}
"""A pixel."""
SERVICE = "/openral/perception/query_task_progress"


class FakeCamera:
    """Publishes clock, joints, status and square images at a rate of a clock, `speed` times as fast as the wall's."""

    def __init__(self, size: int, speed: float = 4, patience_s: float = 90, rate_hz: float = 20) -> None:
        self.patience_s = patience_s
        self.brightness = 0
        self.size = size
        self.encoding = "rgb8"
        self.joint = 0.0
        self.status_is_sent = True
        self.is_bare = False
        """A camera alone: no clock but the wall's, no joints, no bridge."""
        self.names = ["corner2"]
        """Cameras that are alive."""
        self.status = ControlStatus()
        self.readings: list[Any] = []
        self.now_ns = 0
        self.alive = True
        self.sent = 0
        self._period_ns = round(1e9 / rate_hz)
        self._pause_s = 1 / (rate_hz * speed)
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=int(os.environ["ROS_DOMAIN_ID"]))
        self.node = rclpy.create_node("fake_camera", context=self._context)
        self._clock = self.node.create_publisher(Clock, "/clock", BEST_EFFORT)
        self._status = self.node.create_publisher(ControlStatus, "/openral/control_status", 10)
        self._joints = self.node.create_publisher(JointState, "/joint_states", 10)
        self._images = {
            name: self.node.create_publisher(Image, f"/openral/cameras/{name}/image_raw", BEST_EFFORT)
            for name in ("corner2", "wrist")
        }
        self.node.create_subscription(TaskProgress, "/openral/progress", self.readings.append, 10)
        self._client = self.node.create_client(QueryTaskProgress, SERVICE)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=body, daemon=True) for body in (self._spin, self._run)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(5)
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def goal(self, goal_id: str, instruction: str) -> None:
        self.status = ControlStatus(active_goal=goal_id, instruction=instruction)
        self._status.publish(self.status)

    def ask(self, **request: Any) -> Any:
        return self.call(self._client, QueryTaskProgress.Request(**request))

    def call(self, client: Any, request: Any) -> Any:
        """Wait for the service and for its answer."""
        assert client.wait_for_service(timeout_sec=self.patience_s)
        future = client.call_async(request)
        answered = threading.Event()
        future.add_done_callback(lambda _: answered.set())
        assert answered.wait(self.patience_s), "waited in vain: an answer"
        return future.result()

    def of_goal(self, goal_id: str) -> list[Any]:
        return [reading for reading in list(self.readings) if reading.goal_id == goal_id]

    def _spin(self) -> None:
        while not self._stop.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _run(self) -> None:
        due_s = time.monotonic()
        while not self._stop.wait(max(0.0, due_s - time.monotonic())):
            due_s = max(
                due_s + self._pause_s, time.monotonic() - 1.0
            )  # late pictures follow, but not for ever
            if self.alive:
                self.publish()

    def publish(self) -> None:
        """Send the next picture, with clock, status and joints."""
        self.now_ns = time.time_ns() if self.is_bare else self.now_ns + self._period_ns
        stamp = Time(sec=self.now_ns // 10**9, nanosec=self.now_ns % 10**9)
        row = BYTES[self.encoding] * self.size
        image = Image(height=self.size, width=self.size, encoding=self.encoding, step=row)
        image.data = np.full(row * self.size, self.brightness, np.uint8).tobytes()
        image.header.stamp = stamp
        if not self.is_bare:
            self._clock.publish(Clock(clock=stamp))
            self._joints.publish(JointState(name=["elbow"], position=[self.joint]))
        if self.status_is_sent and not self.is_bare:
            self._status.publish(self.status)
        for name in self.names:
            self._images[name].publish(image)
        self.sent += 1


def wait_for(condition: Any, what: str, timeout_s: float = 90) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.01)
