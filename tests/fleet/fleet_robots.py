"""A simulated robot in a namespace: its bridge as a process, and a policy node by hand that speaks in the same one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import rclpy
from geometry_msgs.msg import PoseStamped
from openral.msg import ControlStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from openral_core.graph.namespaces import ros_arguments
from openral_policy_nodes.ros.fake_node import FakePolicyNode

PATIENCE_S = 90.0
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
NEWEST = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
HEARD = {
    "control_status": (ControlStatus, 10),
    "estop_state": (Bool, LATCHED),
    "ee_pose": (PoseStamped, 10),
    "cameras/corner2/image_raw": (Image, NEWEST),
    "cameras/corner2/camera_info": (CameraInfo, NEWEST),
    "/joint_states": (JointState, 10),
    "/clock": (Clock, NEWEST),
}
"""By its name for a node of the deployment, whichever namespace that is in."""


class Robot:
    """One robot, heard and commanded from within its namespace."""

    def __init__(self, namespace: str, scene: Path) -> None:
        """Start its bridge, and listen."""
        self.namespace = namespace
        command = [sys.executable, "-m", "openral_sim_bridge.ros.bridge_node"]
        command += [*ros_arguments(namespace), "--ros-args", "-p", f"scene:={scene}"]
        self._process = subprocess.Popen(
            command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE, text=True
        )
        self._context = rclpy.Context()
        self._context.init(args=ros_arguments(namespace), domain_id=int(os.environ["ROS_DOMAIN_ID"]))
        self.node = rclpy.create_node("beside", namespace="/openral", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.heard: dict[str, list[Any]] = defaultdict(list)
        for name, (kind, qos) in HEARD.items():
            self.node.create_subscription(kind, name, self.heard[name].append, qos)
        self.policy = FakePolicyNode(self.node, "t/s")

    @property
    def status(self) -> Any:
        """The newest ControlStatus."""
        return self.heard["control_status"][-1]

    @property
    def pid(self) -> int:
        """Of its bridge."""
        return self._process.pid

    def spin(self, seconds: float = 0.05) -> None:
        """Take in what came."""
        self._executor.spin_once(timeout_sec=seconds)

    def until(self, condition: Callable[[], object]) -> None:
        """Listen until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, {name: len(messages) for name, messages in self.heard.items()}
            self.spin()

    def begin(self) -> None:
        """Hold a new goal, and send one chunk of it for the newest picture."""
        pictures = self.heard["cameras/corner2/image_raw"]
        self.until(self.policy.chunks.get_subscription_count)
        self.until(lambda: pictures)
        self.policy.begin(uuid4().hex)
        self.policy.send(
            pictures[-1].header.stamp,
            instruction="go",
            representation="delta_ee_3d_plus_gripper",
            horizon=16,
            dim=4,
            dt=0.0125,
            data=[0.2] * 64,
        )

    def begin_until(self, condition: Callable[[], object]) -> None:
        """Send chunks of new goals until one has come in time for a condition; a busy machine is late with some."""
        for _ in range(40):
            self.begin()
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                self.spin()
                if condition():
                    return
        raise AssertionError("no chunk came in time")

    def release(self) -> None:
        """Reset the emergency stop."""
        client = self.node.create_client(Trigger, "estop_reset")
        self.until(client.service_is_ready)
        answered = client.call_async(Trigger.Request())
        self.until(answered.done)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()
