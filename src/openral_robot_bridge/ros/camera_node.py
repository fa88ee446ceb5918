"""The lifecycle node `camera_bridge`, which publishes real cameras on the same topics as simulated ones."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from openral_core.errors import OpenralError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.ros.loading_node import log_cannot_run
from openral_core.ros.qos import LATCHED, NEWEST
from openral_core.ros.run_node import run_node
from openral_robot_bridge.ros.camera_relay import CameraRelay
from openral_robot_bridge.scene_loading import load_arm_scene

REPORT_S = 1.0
"""[s] wall time between two messages on `/diagnostics`."""


class CameraBridgeNode(GuardedCallbacks, LifecycleNode):
    """Publishes the cameras of a scene with a real arm.

    Parameters: `scene` (name or path of a scene with a section `arm`), `autostart`, and `run_dir`, which is not used.
    """

    def __init__(self) -> None:
        super().__init__("camera_bridge", namespace=DEFAULT_NAMESPACE)
        for name, default in (("scene", "fr3_tabletop"), ("run_dir", ""), ("autostart", True)):
            self.declare_parameter(name, default)
        self._relays: list[CameraRelay] = []
        self._joints: Any = None
        self._frames: Any = None
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(REPORT_S, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Load the scene; fail if it has no real cameras."""
        try:
            scene = load_arm_scene(str(self.get_parameter("scene").value))
        except OpenralError as error:
            log_cannot_run(self, "the camera bridge", error)
            return TransitionCallbackReturn.FAILURE
        assert scene.arm is not None  # `load_arm_scene`
        if not scene.arm.cameras:
            self.get_logger().error(
                f"the camera bridge cannot run: scene {scene.scene.id} has no arm.cameras; add them, or do without it"
            )
            return TransitionCallbackReturn.FAILURE
        self._scene = scene
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Open the cameras, publish their mounts on `/tf_static`, and begin to relay their images."""
        arm = self._scene.arm
        assert arm is not None
        known = {camera.name: camera for camera in self._scene.cameras}
        self._relays = [CameraRelay(self, known[name], real) for name, real in arm.cameras.items()]
        self._joints = self.create_subscription(JointState, "/joint_states", self._on_joints, NEWEST)
        frames = [frame for relay in self._relays if (frame := relay.mounted) is not None]
        self._frames = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        if frames:
            self._frames.publish(TFMessage(transforms=frames))
        self.get_logger().info(f"cameras: {', '.join(arm.cameras)}")
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Close the cameras."""
        self.close()
        return super().on_deactivate(state)

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Close the cameras before the node ends."""
        self.close()
        return TransitionCallbackReturn.SUCCESS

    def close(self) -> None:
        """Close the cameras."""
        relays, self._relays = self._relays, []
        for relay in relays:
            relay.close()
        if self._joints is not None:
            self.destroy_subscription(self._joints)
            self.destroy_publisher(self._frames)
            self._joints = self._frames = None

    def _on_joints(self, message: JointState) -> None:
        positions, stamp = np.array(message.position, np.float64), message.header.stamp
        for relay in self._relays:
            relay.feed.joints(positions, stamp.sec + 1e-9 * stamp.nanosec)

    def _report(self) -> None:
        if not self._relays:
            return
        message = DiagnosticArray(status=[relay.status() for relay in self._relays])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)


def main(args: list[str] | None = None) -> int:
    """Run the node until it is stopped; return EXIT_UNFIT if `autostart` found that its scene has no cameras."""
    return run_node(CameraBridgeNode, args)


if __name__ == "__main__":
    sys.exit(main())
