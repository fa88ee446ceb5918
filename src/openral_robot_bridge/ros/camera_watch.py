"""Measures the health of a scene's cameras for a limited time, without publishing their images."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import rclpy
from rclpy.executors import SingleThreadedExecutor

from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.hardware.real_camera import RealCamera
from openral_core.scene import DeployScene
from openral_core.types import Image
from openral_robot_bridge.cameras.picture_health import FeedReport, PictureFeed
from openral_robot_bridge.ros.camera_source import Optics, open_source


class _Watch:
    """Collects the statistics of one source."""

    def __init__(self, name: str) -> None:
        self.feed = PictureFeed(name)

    def picture(self, stamp_ns: int, image: Image) -> None:
        """Add an image to the statistics."""
        self.feed.picture(1e-9 * stamp_ns, time.time(), image)

    def optics(self, optics: Optics) -> None:
        """Ignore the camera model."""

    def failed(self, why: str) -> None:
        """Record a fault."""
        self.feed.failed(why)


def watch_cameras(scene: DeployScene, watched_s: float) -> dict[str, FeedReport]:
    """Return the health of each of `arm.cameras`, by name, after `watched_s` [s]."""
    cameras: dict[str, RealCamera] = dict(scene.arm.cameras) if scene.arm is not None else {}
    with ExitStack() as closing:
        context = rclpy.Context()
        context.init()
        closing.callback(context.try_shutdown)
        node = rclpy.create_node("camera_check", namespace=DEFAULT_NAMESPACE, context=context)
        closing.callback(node.destroy_node)
        watches = {name: _Watch(name) for name in cameras}
        for name, camera in cameras.items():
            closing.callback(open_source(node, name, camera, watches[name]))
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        spinning = threading.Thread(target=executor.spin, name="cameras", daemon=True)
        spinning.start()
        closing.callback(spinning.join, 2.0)
        closing.callback(executor.shutdown)
        time.sleep(watched_s)
        now_s = time.time()
        return {name: watch.feed.report(now_s) for name, watch in watches.items()}
