"""A simulator's bridge that is configured again, whose clock begins at 0: stamps come a second time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import Image, JointState

from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_policy_nodes.inference import SensorSet
from openral_policy_nodes.ros.sensors import SensorIntake
from openral_policy_nodes.state_assembler import StateAssembler

BEFORE, AFTER = 250, 10
"""Brightness of the world before and after."""


class HeardNode:
    """The part of a node that the intake uses; a test calls its subscriptions by hand."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.heard: dict[str, Callable[[Any], None]] = {}

    def get_namespace(self) -> str:
        return "/openral"

    def create_subscription(self, kind: Any, topic: str, callback: Callable[[Any], None], qos: Any) -> None:
        self.heard[topic] = callback

    def get_clock(self) -> Any:
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=self.now_ns))

    def get_logger(self) -> logging.Logger:
        return logging.getLogger("heard_node")


def test_a_picture_of_the_world_before_never_belongs_to_a_state_of_the_new_one(scene: DeployScene) -> None:
    node, seen, robot = HeardNode(), [], load_robot(scene.robot_id)
    assert robot.gripper_joint is not None
    assembler = StateAssembler(robot.joint_names, robot.gripper_joint.name)

    def note(sensors: SensorSet, fresh: bool) -> None:
        seen.append((sensors.stamp_ns, int(sensors.images["corner2"].mean())))

    SensorIntake(node, scene.cameras, assembler, note)  # type: ignore[arg-type]

    def publish(stamp_ns: int, brightness: int) -> None:
        node.now_ns, stamp = stamp_ns, Time(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
        joints = JointState(name=list(robot.joint_names), position=[0.0] * len(robot.joint_names))
        pose, camera = PoseStamped(), scene.cameras[0]
        pose.pose.orientation.w = 1.0
        image = Image(height=camera.height, width=camera.width, encoding="rgb8", step=3 * camera.width)
        image.data = np.full(3 * camera.width * camera.height, brightness, np.uint8).tobytes()
        node.heard["/joint_states"](
            JointState(name=["wheel"], position=[0.0])
        )  # of somebody who stamps nothing
        for topic, message in (
            ("/joint_states", joints),
            ("/openral/ee_pose", pose),
            (f"/openral/cameras/{camera.name}/image_raw", image),
        ):
            message.header.stamp = stamp
            node.heard[topic](message)

    stamps = [50_000_000 * step for step in range(1, 61)]  # 3 s
    for stamp in stamps:
        publish(stamp, BEFORE)
    assert seen == [(stamp, BEFORE) for stamp in stamps]
    seen.clear()
    for stamp in stamps:
        publish(stamp, AFTER)
    assert seen == [(stamp, AFTER) for stamp in stamps]
