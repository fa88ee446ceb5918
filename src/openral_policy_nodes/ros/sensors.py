"""The inputs of a policy node: cameras, joints and end effector, matched by their stamps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, JointState

from openral_core.errors import ContractError
from openral_core.graph.namespaces import graph_name
from openral_core.image_message import decode_image, require_size
from openral_core.ros.qos import NEWEST, STATE
from openral_core.scene import SceneCamera
from openral_core.types import RobotState
from openral_policy_nodes.inference import SensorSet
from openral_policy_nodes.state_assembler import StateAssembler
from openral_policy_nodes.synchroniser import NearestSynchroniser, StampSynchroniser

FUTURE_NS = 5_000_000_000
"""[ns] by which a stamp may be ahead of the node's clock, which may lag; later messages are dropped.

If one were accepted, all correct observations after it would count as old.
"""
SET_BACK_NS = 1_000_000_000
"""[ns] by which a stored stamp must be ahead of the node's clock to mean that the clock was set back."""
LOG_PERIOD_S = 1.0
"""[s] least time between two log lines about one source."""
_JOINTS, _POSE = "/joint_states", "ee_pose"
_STATE = "the robot's state"
"""Name of the stream of joints and pose together, in messages and in `NearestSynchroniser`."""


def stamp_ns(message: Any) -> int:
    """Return the stamp [ns] of a message with a header."""
    stamp = message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


class SensorIntake:
    """Subscribes while a node is active, and passes on every complete observation. Runs in the executor's thread."""

    def __init__(
        self,
        node: Node,
        cameras: Sequence[SceneCamera],
        assembler: StateAssembler,
        on_sensors: Callable[[SensorSet, bool], None],
        *,
        with_target: bool = False,
        pairing_s: float = 0.0,
    ) -> None:
        """Subscribe.

        Args:
            node: owner of the subscriptions.
            cameras: cameras of the observations.
            assembler: builds the robot's state from joints and pose.
            on_sensors: called with each complete observation, and with whether its stamp is newer than any before.
            with_target: whether states hold the position to which the controller moves the hand; they do where its
                message arrived before the pose with the same stamp.
            pairing_s: [s] by which the stamps of images may differ from those of states; 0: they must be equal, as a
                simulator bridge stamps them.
        """
        self._node = node
        self._assembler = assembler
        self._on_sensors = on_sensors
        self._cameras = {camera.name: camera for camera in cameras}
        self._exact = StampSynchroniser[Any]([_JOINTS, _POSE, *self._cameras])
        self._nearest: NearestSynchroniser[Any] | None = None
        self._pairing_ns = round(1e9 * pairing_s)
        if cameras and pairing_s > 0.0:
            self._nearest = NearestSynchroniser(list(self._cameras), _STATE, self._pairing_ns)
        self._body = StampSynchroniser[Any]([_JOINTS, _POSE])
        self._body_ns, self._body_parts = -1, dict[str, Any]()
        self._faults: dict[str, str] = {}
        self._logged_s: dict[str, float] = {}
        self.latest: SensorSet | None = None
        """The newest complete observation."""
        space = node.get_namespace()
        self._subscriptions = [
            node.create_subscription(JointState, _JOINTS, lambda message: self._add(_JOINTS, message), STATE),
            node.create_subscription(
                PoseStamped, graph_name(space, _POSE), lambda message: self._add(_POSE, message), STATE
            ),
        ]
        self._target = (-1, np.zeros(3))
        if with_target:
            self._subscriptions.append(
                node.create_subscription(PointStamped, graph_name(space, "ee_target"), self._on_target, STATE)
            )
        for camera in cameras:
            self._subscribe_camera(camera)

    @property
    def fault(self) -> str | None:
        """Why the inputs cannot be used, such as a camera that does not fit the scene; None: they can."""
        return "; ".join(self._faults.values()) or None

    @property
    def state(self) -> RobotState | None:
        """The newest state of the robot, independent of its cameras; None: it is unknown."""
        if not self._body_parts:
            return None
        try:
            return self._assemble(self._body_ns, self._body_parts)
        except ContractError:
            return None  # the fault is reported where the observations are assembled

    def close(self) -> None:
        """Destroy the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def _subscribe_camera(self, camera: SceneCamera) -> None:
        def on_info(message: CameraInfo) -> None:
            self._check(
                f"{camera.name} info",
                lambda: require_size(camera, message.width, message.height, "camera_info"),
            )

        def on_image(message: Image) -> None:
            self._add(camera.name, message)

        topic = graph_name(self._node.get_namespace(), f"cameras/{camera.name}")
        create = self._node.create_subscription
        self._subscriptions.append(create(Image, f"{topic}/image_raw", on_image, NEWEST))
        self._subscriptions.append(create(CameraInfo, f"{topic}/camera_info", on_info, NEWEST))

    def _on_target(self, message: PointStamped) -> None:
        point = np.array([message.point.x, message.point.y, message.point.z])
        if np.isfinite(point).all():
            self._target = stamp_ns(message), point

    def _add(self, stream: str, message: Any) -> None:
        stamp = stamp_ns(message)
        now = self._node.get_clock().now().nanoseconds
        self._forget_future(now)
        if self._nearest is not None and stream in self._cameras:
            ahead_ns, what = (
                stamp - now,
                f"camera '{stream}': its pictures are stamped ahead of this computer's clock",
            )
            early = ahead_ns > self._pairing_ns
            self._tell(
                f"{stream} clock", f"{what} by {1e-9 * ahead_ns:.2f} s; set the clocks alike" if early else ""
            )
            if early:
                return
        if 0 < now < stamp - FUTURE_NS:
            text = f"dropped a message of {stream} that is stamped {1e-9 * (stamp - now):.0f} s ahead of the clock"
            self._node.get_logger().warning(text, throttle_duration_sec=1.0)
            return
        found = self._instant(stream, stamp, message)
        if found is None:
            if (
                stream in self._cameras
            ):  # a wrong camera is a fault from its first image on, even if nothing else arrives
                self._decode(stream, message)
            return
        images = {
            name: image for name in self._cameras if (image := self._decode(name, found[name])) is not None
        }
        stamp = stamp_ns(found[_JOINTS])  # a chunk belongs to a control step, and so to the stamp of a state
        state = self._check(_JOINTS, lambda: self._assemble(stamp, found))
        if state is None or len(images) < len(self._cameras):
            return
        fresh = self.latest is None or stamp > self.latest.stamp_ns
        if self.latest is None or stamp >= self.latest.stamp_ns:
            self.latest = SensorSet(stamp, images, state, found[_POSE].header.frame_id)
            self._on_sensors(self.latest, fresh)

    def _instant(self, stream: str, stamp: int, message: Any) -> Mapping[str, Any] | None:
        """Store a message; return the messages of the instant that it completes, by stream, else None."""
        parts = None
        if stream not in self._cameras:
            parts = self._body.add(stream, stamp, message)
            if parts is not None and stamp >= self._body_ns:
                self._body_ns, self._body_parts = stamp, parts
        nearest = self._nearest
        if nearest is None:
            return self._exact.add(stream, stamp, message)
        if stream in self._cameras:
            found = nearest.add(stream, stamp, message)
        else:
            found = None if parts is None else nearest.add(_STATE, stamp, parts)
        self._tell(_STATE, nearest.apart)
        return None if found is None else {**found, **found[_STATE]}

    def _forget_future(self, now: int) -> None:
        """Drop messages that are ahead of a clock that was set back, as after a bridge was configured again."""
        if now > 0 and self._body_ns > now + SET_BACK_NS:
            self._body_ns, self._body_parts = -1, {}
            # Their stamps come again, and a picture of the world before would belong to a state of the new one.
            self._exact.clear()
            self._body.clear()
        if now > 0 and self.latest is not None and self.latest.stamp_ns > now + SET_BACK_NS:
            self.latest = None
        if now > 0 and self._nearest is not None:
            self._nearest.forget_after(now + FUTURE_NS)

    def _assemble(self, stamp: int, found: Mapping[str, Any]) -> RobotState:
        joints, pose = found[_JOINTS], found[_POSE].pose
        state = self._assembler.assemble(
            stamp,
            joints.name,
            joints.position,
            (pose.position.x, pose.position.y, pose.position.z),
            (pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w),
        )
        target_ns, target = self._target
        return replace(state, ee_target=target) if target_ns == stamp else state

    def _decode(self, name: str, message: Image) -> Any:
        return self._check(name, lambda: decode_image(self._cameras[name], message))

    def _check(self, source: str, read: Callable[[], Any]) -> Any:
        """Return the value of `read`; where it raises ContractError, set the fault of the source and return None."""
        try:
            value = read()
        except ContractError as error:
            self._tell(source, str(error))
            return None
        self._tell(source, "")
        return value

    def _tell(self, source: str, fault: str) -> None:
        """Set the fault of a source, empty where there is none, and log it when it changes."""
        if fault:
            if self._faults.get(source) != fault and self._may_log(source):
                self._node.get_logger().error(fault)
            self._faults[source] = fault
        elif self._faults.pop(source, None) is not None and self._may_log(source):
            self._node.get_logger().info(f"{source}: as the scene says again")

    def _may_log(self, source: str) -> bool:
        now = time.monotonic()
        if now - self._logged_s.get(source, float("-inf")) < LOG_PERIOD_S:
            return False
        self._logged_s[source] = now
        return True
