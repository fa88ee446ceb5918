"""A node that listens to a bridge, and what tests do through it."""

from __future__ import annotations

import os
import time
from uuid import uuid4

import rclpy
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.srv import ChangeState
from openral.msg import ControlStatus
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

from openral_policy_nodes.ros.fake_node import FakePolicyNode

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
LATCHED = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
EVERY = QoSProfile(depth=1000, reliability=QoSReliabilityPolicy.BEST_EFFORT)
TOPICS = {
    "clock": (Clock, "/clock", EVERY),
    "image": (Image, "/openral/cameras/corner2/image_raw", EVERY),
    "info": (CameraInfo, "/openral/cameras/corner2/camera_info", EVERY),
    "joints": (JointState, "/joint_states", 1000),
    "pose": (PoseStamped, "/openral/ee_pose", 1000),
    "tf": (TFMessage, "/tf", 1000),
    "static": (TFMessage, "/tf_static", LATCHED),
    "urdf": (String, "/robot_description", LATCHED),
    "status": (ControlStatus, "/openral/control_status", 100),
    "estop": (Bool, "/openral/estop_state", LATCHED),
}


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


class Observer:
    """A node that keeps every message of the bridge."""

    def __init__(self, name="observer"):
        self.context = rclpy.Context()
        self.context.init(domain_id=DOMAIN)
        self.node = rclpy.create_node(name, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.seen = {key: [] for key in TOPICS}
        for key, (kind, topic, qos) in TOPICS.items():
            self.node.create_subscription(kind, topic, self.seen[key].append, qos)
        self.policy = None

    def until(self, condition, timeout=90.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, {key: len(value) for key, value in self.seen.items()}
            self.executor.spin_once(timeout_sec=0.05)

    def call(self, kind, name, **fields):
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready)
        future = client.call_async(kind.Request(**fields))
        self.until(future.done)
        return future.result()

    def begin(self, goal="a" * 32, **settings):
        """Announce a goal, as a policy node does."""
        if self.policy is None:
            self.policy = FakePolicyNode(self.node, "t/s", **settings)
            self.until(self.policy.chunks.get_subscription_count)
        return self.policy.begin(goal)

    def answer(self, value=0.2, **changes):
        """Publish a chunk for the newest image."""
        self.until(lambda: self.seen["image"])
        fields = {
            "instruction": "go",
            "representation": "delta_ee_3d_plus_gripper",
            "horizon": 16,
            "dim": 4,
            "dt": 0.0125,
            "data": [float(value)] * 64,
            **changes,
        }
        self.policy.send(fields.pop("stamp", self.seen["image"][-1].header.stamp), **fields)

    def answer_until(self, condition):
        """Answer each picture, as a policy does, until a condition holds: on a busy machine one answer may be late."""

        def answered():
            if condition():
                return True
            if self.seen["image"]:
                self.answer()
                self.seen["image"].clear()
            return False

        self.until(answered)

    def status(self):
        """The newest status; the bridge tells it five times a second, so the first may be on its way."""
        self.until(lambda: self.seen["status"])
        return self.seen["status"][-1]

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


def moved(observer):
    """Post a good chunk of a new goal, and tell whether it is executed."""
    observer.begin(uuid4().hex)
    executed, held = observer.status().executed, observer.status().held
    observer.answer(0.2)
    observer.until(lambda: observer.status().executed > executed or observer.status().held > held + 80)
    return observer.status().executed > executed


def transition(observer, number):
    """Ask for a lifecycle transition: 1 configure, 2 cleanup, 3 activate, 4 deactivate."""
    change = ChangeState.Request()
    change.transition.id = number
    client = observer.node.create_client(ChangeState, "/openral/sim_bridge/change_state")
    observer.until(client.service_is_ready)
    future = client.call_async(change)
    observer.until(future.done)
    assert future.result().success
