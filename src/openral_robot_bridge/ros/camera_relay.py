"""Relays one real camera: its images in the scene's size, with their original stamps, and its camera_info."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo

from openral_control.control_thread import ERROR, OK, WARN
from openral_control.ros.camera_publisher import ImageTopics
from openral_core.errors import ContractError
from openral_core.graph.namespaces import frame_prefix
from openral_core.hardware.real_camera import RealCamera
from openral_core.ros.qos import NEWEST
from openral_core.scene import SceneCamera
from openral_core.types import Image
from openral_robot_bridge.cameras.picture_fit import PictureFit
from openral_robot_bridge.cameras.picture_health import PictureFeed
from openral_robot_bridge.ros.camera_source import Optics, open_source
from openral_sim_bridge.coordinate_frames import optical_frame

SOONER = 0.6
"""Least time between two relayed images, as a share of the scene's period.

Thus a camera that is slightly faster than the scene keeps its own rate, and a much faster one is decimated."""


class CameraRelay:
    """Publishes `cameras/<name>/image_raw`, the same as JPEG, and `…/camera_info`."""

    def __init__(self, node: Node, camera: SceneCamera, real: RealCamera) -> None:
        """Begin to relay.

        Args:
            node: which subscribes and publishes.
            camera: size and rate that the scene specifies.
            real: source of the images.
        """
        self.camera, self._real = camera, real
        self.feed = PictureFeed(camera.name)
        """Health of the camera."""
        self._fit = PictureFit((camera.width, camera.height), real.fit)
        self._prefix = frame_prefix(node.get_namespace())
        self._frame = f"{self._prefix}{optical_frame(camera.name)}"
        base = f"cameras/{camera.name}"
        self._node = node
        self._pictures = ImageTopics(node, camera.name, (camera.width, camera.height), self._frame)
        self._infos = node.create_publisher(CameraInfo, f"{base}/camera_info", NEWEST)
        self._info: Any = None
        self._info_size = (0, 0)
        self._passed_s = float("-inf")
        self._close = open_source(node, camera.name, real, self)

    @property
    def mounted(self) -> TransformStamped | None:
        """Pose of the camera's optical frame in the frame it is mounted on; None: the scene does not specify it."""
        mount = self._real.mount
        if mount is None:
            return None
        frame = TransformStamped(child_frame_id=self._frame)
        frame.header.frame_id = f"{self._prefix}{mount.frame}"
        shift, turn = frame.transform.translation, frame.transform.rotation
        shift.x, shift.y, shift.z = mount.position
        turn.x, turn.y, turn.z, turn.w = mount.quaternion
        return frame

    def picture(self, stamp_ns: int, image: Image) -> None:
        """Publish an image, unless its stamp is not later than the one before, or it exceeds the scene's rate.

        One that cannot be fitted to the scene's size is a fault of the camera.
        """
        stamp_s = 1e-9 * stamp_ns
        if not self.feed.picture(stamp_s, time.time(), image):
            return
        if 0.0 <= stamp_s - self._passed_s < SOONER / self.camera.rate_hz:
            return
        self._passed_s = stamp_s
        stamp = Time(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
        try:
            fitted = self._fit.picture(image)
        except ContractError as error:
            self.feed.failed(str(error))
            return
        self._pictures.publish(stamp, fitted)
        if self._info is None:
            return
        size = (image.shape[1], image.shape[0])
        if size != self._info_size:
            pictures, lens = ("{}x{}".format(*each) for each in (size, self._info_size))
            self.feed.failed(
                f"its pictures are {pictures}, its lens is described for {lens}; make them alike"
            )
            return
        self._info.header.stamp = stamp
        self._infos.publish(self._info)

    def optics(self, optics: Optics) -> None:
        """Prepare the camera_info of the scene's images from the camera's intrinsics."""
        k = self._fit.lens(optics.k, *optics.size)
        width, height = self.camera.width, self.camera.height
        info = CameraInfo(height=height, width=width, distortion_model=optics.model, d=list(optics.d))
        info.header.frame_id = self._frame
        info.k = [float(value) for value in k.flatten()]
        info.r = [float(value) for value in np.eye(3).flatten()]
        info.p = [float(value) for value in np.hstack([k, np.zeros((3, 1))]).flatten()]
        self._info, self._info_size = info, optics.size

    def failed(self, why: str) -> None:
        """Record why there are no images."""
        self.feed.failed(why)

    def status(self) -> DiagnosticStatus:
        """Return the camera's health for `/diagnostics`."""
        report = self.feed.report(time.time())
        level, message = OK, "pictures come"
        if report.fault:
            level, message = ERROR, report.fault
        elif report.frozen or report.dark:
            level, message = WARN, "its picture stays the same" if report.frozen else "its picture is dark"
        elif report.rate_hz < 0.9 * self.camera.rate_hz:
            level = WARN
            message = f"{report.rate_hz:.1f} pictures a second, the scene says {self.camera.rate_hz:g}"
        values = {
            "rate_hz": f"{report.rate_hz:.1f}",
            "age_ms": f"{1e3 * report.age_s:.0f}",
            "greatest_age_ms": f"{1e3 * report.oldest_s:.0f}",
            "greatest_gap_ms": f"{1e3 * report.gap_s:.0f}",
            "pictures": str(report.pictures),
            "size": "{}x{}".format(*report.size),
            "frozen": str(report.frozen).lower(),
            "dark": str(report.dark).lower(),
            "camera_info": str(self._info is not None).lower(),
        }
        pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
        name = f"{self._node.get_namespace().strip('/')}/camera_bridge: {self.camera.name}"
        return DiagnosticStatus(level=level, name=name, message=message, hardware_id="", values=pairs)

    def close(self) -> None:
        """Close the source and the publishers."""
        self._close()
        self._pictures.close()
        self._node.destroy_publisher(self._infos)
