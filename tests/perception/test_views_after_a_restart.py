"""Views of a camera that moves, of a bridge that was configured again, whose clock begins at 0: stamps come again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from openral_core.scene import SceneCamera
from openral_perception.geometry import NotLocatedError
from openral_perception.locator import CameraView
from openral_perception.ros.intake import ViewIntake

SIZE = 16
PERIOD_NS = 50_000_000
BEST_EFFORT = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
CAMERA = SceneCamera(name="wrist", feature_key="wrist", width=SIZE, height=SIZE, depth=True)


class MovingCamera:
    """A node that publishes a camera, the frame that it stands in, and the clock; and a node that hears them."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        self.context.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
        self.hears = LifecycleNode(
            "hears",
            namespace="/openral",
            context=self.context,
            parameter_overrides=[Parameter("use_sim_time", value=True)],
        )
        self.says = rclpy.create_node("says", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.hears)
        base, make = "/openral/cameras/wrist", self.says.create_publisher
        self.clock = make(Clock, "/clock", BEST_EFFORT)
        self.frames = make(TFMessage, "/tf", 100)
        self.image = make(Image, f"{base}/image_raw", BEST_EFFORT)
        self.depth = make(Image, f"{base}/depth/image_rect_raw", BEST_EFFORT)
        self.info = make(CameraInfo, f"{base}/depth/camera_info", BEST_EFFORT)
        group = MutuallyExclusiveCallbackGroup()
        self.intake = ViewIntake(self.hears, [CAMERA], self.now_s, group)

    def now_s(self) -> float:
        return float(self.hears.get_clock().now().nanoseconds) * 1e-9

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end, "patience is over"
            self.executor.spin_once(timeout_sec=0.05)

    def show(self, stamp_ns: int, x_m: float, grey: int) -> None:
        """Publish an instant in which the camera stands at x [m] and sees grey pixels."""
        stamp = Time(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
        self.clock.publish(Clock(clock=stamp))
        self.until(lambda: self.hears.get_clock().now().nanoseconds == stamp_ns)
        frame = TransformStamped(child_frame_id="wrist_optical_frame")
        frame.header.frame_id, frame.header.stamp = "world", stamp
        frame.transform.translation.x, frame.transform.rotation.w = x_m, 1.0
        self.frames.publish(TFMessage(transforms=[frame]))
        info = CameraInfo(height=SIZE, width=SIZE, k=[20.0, 0.0, 8.0, 0.0, 20.0, 8.0, 0.0, 0.0, 1.0])
        image = Image(height=SIZE, width=SIZE, encoding="rgb8", step=3 * SIZE)
        image.data = np.full((SIZE, SIZE, 3), grey, np.uint8).tobytes()
        depth = Image(height=SIZE, width=SIZE, encoding="32FC1", step=4 * SIZE)
        depth.data = np.ones((SIZE, SIZE), np.float32).tobytes()
        for publisher, message in ((self.info, info), (self.image, image), (self.depth, depth)):
            message.header.stamp, message.header.frame_id = stamp, "wrist_optical_frame"
            publisher.publish(message)

    def view(self) -> CameraView | None:
        """Return the view that the intake has now, or None."""
        try:
            return self.intake.view("wrist")
        except NotLocatedError:
            return None

    def close(self) -> None:
        self.intake.close()
        self.executor.shutdown()
        self.hears.destroy_node()
        self.says.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def camera() -> Iterator[MovingCamera]:
    made = MovingCamera()
    yield made
    made.close()


@pytest.mark.parametrize("before", [range(20, 25), range(400, 405)], ids=["1 s", "20 s"])
def test_they_are_of_the_new_world_alone(camera: MovingCamera, before: range) -> None:
    def newest(stamp_ns: int) -> Any:
        view = camera.view()
        return view if view is not None and round(view.stamp_s * 1e9) == stamp_ns else None

    camera.until(lambda: camera.image.get_subscription_count() == camera.frames.get_subscription_count() == 1)
    for step in before:
        camera.show(step * PERIOD_NS, x_m=1.0, grey=200)
        camera.until(lambda step=step: newest(step * PERIOD_NS) is not None)
    assert camera.view().model.position[0] == 1.0
    camera.show(PERIOD_NS, x_m=2.0, grey=100)
    view = camera.view()
    assert view is None or int(view.image.mean()) == 100, "what the camera saw before is no view any more"
    for step in range(2, 25):
        camera.show(step * PERIOD_NS, x_m=2.0, grey=100)
        camera.until(lambda step=step: newest(step * PERIOD_NS) is not None)
        view = camera.view()
        assert (view.model.position[0], int(view.image.mean())) == (2.0, 100)
