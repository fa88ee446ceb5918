"""The locator's subscriptions: colour, depth and camera_info of each camera, and the frames with the cameras' poses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.time import Time
from sensor_msgs.msg import CameraInfo, Image
from tf2_ros import Buffer, TransformException, TransformListener

from openral_core.errors import ContractError
from openral_core.graph.namespaces import frame_prefix
from openral_core.image_message import ENCODINGS, decode_image, parse_stamp
from openral_core.ros.qos import best_effort
from openral_core.scene import SceneCamera
from openral_core.types import rotation_matrix
from openral_perception.camera_inbox import CameraInbox, Lens, decode_depth, read_lens
from openral_perception.geometry import NotLocatedError, PinholeCamera
from openral_perception.locator import CameraView

WORLD = "world"
"""Frame of all answers, without the deployment's prefix."""
QOS = best_effort(4)
COMPLAINT_PERIOD_S = 5.0
"""[s] between two warnings about dropped messages."""
UNIT = 1e-3
"""Most by which the squared norm of a rotation's quaternion may differ from 1."""


def world_frame(node: LifecycleNode) -> str:
    """Return the name of the world frame of the deployment that a node belongs to."""
    return f"{frame_prefix(node.get_namespace())}{WORLD}"


class ViewIntake:
    """Receives the images of the cameras that have depth. `view` may be called from any thread."""

    def __init__(
        self, node: LifecycleNode, cameras: Sequence[SceneCamera], now_s: Callable[[], float], group: Any
    ) -> None:
        """Subscribe.

        Args:
            node: owner of the subscriptions.
            cameras: those of the scene that have depth.
            now_s: returns the node's clock [s].
            group: callback group of the subscriptions.
        """
        self._node, self._now_s = node, now_s
        self._world = world_frame(node)
        self._lock = threading.Lock()
        self._inboxes = {camera.name: CameraInbox() for camera in cameras}
        self._buffer = Buffer()
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1))
        self._jumps = node.get_clock().create_jump_callback(back, post_callback=self._on_jump)
        self._listener = TransformListener(self._buffer, node)
        self._made: list[Any] = []
        for camera in cameras:
            base = f"cameras/{camera.name}"
            for kind, topic, take in (
                (Image, f"{base}/image_raw", self._on_image),
                (Image, f"{base}/depth/image_rect_raw", self._on_depth),
                (CameraInfo, f"{base}/depth/camera_info", self._on_info),
            ):
                heard = partial(self._heard, camera, take)
                self._made.append(node.create_subscription(kind, topic, heard, QOS, callback_group=group))

    @property
    def cameras(self) -> tuple[str, ...]:
        """Names of the cameras that have depth, in the scene's order."""
        return tuple(self._inboxes)

    def view(self, camera: str) -> CameraView:
        """Return the newest view of a camera.

        Raises:
            NotLocatedError: there is none, or the camera's pose at its stamp is unknown; the text says what is missing.
        """
        with self._lock:
            inbox = self._inboxes[camera]
            pair, lens, fault = inbox.newest, inbox.lens, inbox.fault
        if fault:
            raise NotLocatedError(f"camera {camera} cannot be used: {fault}")
        if pair is None:
            raise NotLocatedError(
                f"no depth image of camera {camera} has come yet; see whether its bridge runs"
            )
        if lens is None:
            raise NotLocatedError(f"no depth/camera_info of camera {camera} has come yet")
        position, rotation = self._pose(camera, lens, pair.stamp_ns)
        # Monotonic time counts as well, since the bridge's clock stops when the bridge dies.
        age_s = max(0.0, self._now_s() - 1e-9 * pair.stamp_ns, time.monotonic() - pair.arrived_s)
        model = PinholeCamera(lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy, position, rotation)
        return CameraView(camera, 1e-9 * pair.stamp_ns, age_s, pair.image, pair.depth, model)

    def close(self) -> None:
        """Stop listening."""
        self._jumps.unregister()
        self._listener.unregister()
        for subscription in self._made:
            self._node.destroy_subscription(subscription)
        self._made = []

    def _pose(
        self, camera: str, lens: Lens, stamp_ns: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        try:
            found = self._buffer.lookup_transform(
                self._world, lens.frame, Time(nanoseconds=stamp_ns)
            ).transform
        except TransformException as error:
            raise NotLocatedError(
                f"nobody says where camera {camera} stood when the picture was taken ({str(error)[:200]})"
            ) from error
        shift, turn = found.translation, found.rotation
        position = np.array([shift.x, shift.y, shift.z])
        quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
        if not np.isfinite(position).all() or not abs(quaternion @ quaternion - 1.0) < UNIT:
            raise NotLocatedError(f"the frame of camera {camera} is no pose; publish finite numbers on /tf")
        return position, rotation_matrix(quaternion)

    def _on_jump(self, jump: TimeJump) -> None:
        """Forget what was seen before the clock was set back, as by a bridge that begins anew, whose stamps return."""
        with self._lock:
            for inbox in self._inboxes.values():
                inbox.forget()
        self._buffer.clear()  # but for the static frames

    def _heard(self, camera: SceneCamera, take: Callable[[SceneCamera, Any], None], message: Any) -> None:
        try:
            take(camera, message)
        except ContractError as error:
            with self._lock:
                self._inboxes[camera.name].fault = str(error)
            self._node.get_logger().warning(
                f"dropped a message: {error}", throttle_duration_sec=COMPLAINT_PERIOD_S
            )

    def _stamp(self, camera: SceneCamera, message: Any) -> int:
        stamp = message.header.stamp
        parse_stamp(camera.name, stamp.sec, stamp.nanosec, self._now_s())
        return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)

    def _on_image(self, camera: SceneCamera, message: Image) -> None:
        stamp_ns = self._stamp(camera, message)
        image = decode_image(camera, message, ENCODINGS)
        # The message's own memory may be shared with the transport.
        with self._lock:
            self._inboxes[camera.name].colour(stamp_ns, image if image.flags.owndata else image.copy())

    def _on_depth(self, camera: SceneCamera, message: Image) -> None:
        stamp_ns = self._stamp(camera, message)
        depth = decode_depth(
            camera.name,
            message.width,
            message.height,
            message.encoding,
            message.step,
            bool(message.is_bigendian),
            message.data,
        )
        with self._lock:
            self._inboxes[camera.name].depth(stamp_ns, depth)

    def _on_info(self, camera: SceneCamera, message: CameraInfo) -> None:
        k = np.array(message.k, np.float64)
        lens = read_lens(camera.name, message.header.frame_id, message.width, message.height, k)
        with self._lock:
            self._inboxes[camera.name].lens = lens
