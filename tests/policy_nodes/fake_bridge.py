"""A bridge without a world: real topics from a thread, with faults that a test switches on."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.srv import ChangeState
from openral.action import ExecuteSkill
from openral.msg import ActionChunk, ControlStatus, SkillInfo
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Bool
from warm_processes import run_module

from openral_core.robot import load_robot

DOMAIN = int(os.environ["ROS_DOMAIN_ID"])
DT_NS = 12_500_000
LATCHED = QoSProfile(
    depth=32, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
JOINTS = load_robot("sawyer").joint_names


class FakeBridge:
    """Publishes at 80 Hz, an image at each 4th step; accepts every finite chunk."""

    def __init__(self, size: int = 32) -> None:
        self.size = size
        self.encoding = "rgb8"
        self.camera_on = True
        self.pictures = 0
        """How many were published."""
        self.alive = True
        self.chunks: list[Any] = []
        self.heartbeats = 0
        """Announcements, repeated ones too."""
        self.announced: list[str] = []
        """The goal that was announced when each chunk came."""
        self.ended: list[str] = []
        """Goals whose policy node said that they have ended."""
        self.infos: list[Any] = []
        """What was announced, less what only says again that nothing has changed."""
        self.status = ControlStatus(mode="realtime", control_hz=80.0)
        self.now_ns = 0
        self.hand = (0.0, 0.0, 0.0)
        """[m] where the end effector is."""
        self.gripper_m = 0.07
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=DOMAIN)
        self.node = rclpy.create_node("fake_bridge", context=self._context)
        publisher = self.node.create_publisher
        self._clock = publisher(Clock, "/clock", BEST_EFFORT)
        self._joints = publisher(JointState, "/joint_states", 10)
        self._pose = publisher(PoseStamped, "/openral/ee_pose", 10)
        self._image = publisher(Image, "/openral/cameras/corner2/image_raw", BEST_EFFORT)
        self._info = publisher(CameraInfo, "/openral/cameras/corner2/camera_info", BEST_EFFORT)
        self._status = publisher(ControlStatus, "/openral/control_status", 10)
        self._estop = publisher(Bool, "/openral/estop_state", LATCHED)
        self.estop(False)
        self.node.create_subscription(ActionChunk, "/openral/action_chunk", self._on_chunk, 10)
        self.node.create_subscription(SkillInfo, "/openral/skills", self._on_info, LATCHED)
        self.client = ActionClient(self.node, ExecuteSkill, "/openral/skills/fake_arm/execute")
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._spin, daemon=True),
            threading.Thread(target=self._run, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(5)
        self.client.destroy()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def estop(self, on: bool) -> None:
        self._estop.publish(Bool(data=on))

    def publish_status(self) -> None:
        """Publish the status as it is now."""
        self.status.header.stamp = Time(sec=self.now_ns // 10**9, nanosec=self.now_ns % 10**9)
        self._status.publish(self.status)

    def refuse(self, goal_id: str) -> None:
        """Count a refused chunk of a goal."""
        same = self.status.rejected_goal == goal_id
        self.status.rejected += 1
        self.status.rejected_goal = goal_id
        self.status.rejected_streak = self.status.rejected_streak + 1 if same else 1

    def send(self, feedback: list[Any] | None = None, **goal: Any) -> Any:
        """Send a goal, return its handle."""
        assert self.client.wait_for_server(timeout_sec=90), "the action server did not appear"
        callback = None if feedback is None else lambda message: feedback.append(message.feedback)
        return wait_future(self.client.send_goal_async(ExecuteSkill.Goal(**goal), feedback_callback=callback))

    def change_state(self, transition: int) -> None:
        """Send the policy node through a lifecycle transition."""
        client = self.node.create_client(ChangeState, "/openral/policy/fake_arm/change_state")
        assert client.wait_for_service(timeout_sec=90)
        request = ChangeState.Request()
        request.transition.id = transition
        assert wait_future(client.call_async(request)).success

    def _spin(self) -> None:
        while not self._stop.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _run(self) -> None:
        step, due = 0, time.monotonic()
        while not self._stop.is_set():
            due += DT_NS * 1e-9
            time.sleep(max(0.0, due - time.monotonic()))
            if self.alive:
                step += 1
                self.now_ns = step * DT_NS
                self._publish(step)

    def _publish(self, step: int) -> None:
        stamp = Time(sec=self.now_ns // 10**9, nanosec=self.now_ns % 10**9)
        self._clock.publish(Clock(clock=stamp))
        if self.status.active_goal and not self.status.holding:
            self.status.executed += 1
        if step % 16 == 0:
            self.publish_status()
        self.observe(stamp, step % 4 == 0 and self.camera_on, step % 256)

    def observe(self, stamp: Time, with_image: bool = True, brightness: int = 0) -> None:
        """Publish joints, pose and perhaps an image, all stamped alike."""
        joints = JointState(name=list(JOINTS[::-1]), position=[0.01 * index for index in range(len(JOINTS))])
        joints.position[joints.name.index("right_gripper")] = self.gripper_m
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = self.hand
        pose.header.frame_id = "world"
        joints.header.stamp = pose.header.stamp = stamp
        self._joints.publish(joints)
        self._pose.publish(pose)
        if with_image:
            image = Image(height=self.size, width=self.size, encoding=self.encoding, step=3 * self.size)
            image.data = np.full(3 * self.size**2, brightness, np.uint8).tobytes()
            info = CameraInfo(height=self.size, width=self.size)
            image.header.stamp = info.header.stamp = stamp
            self._image.publish(image)
            self.pictures += 1
            self._info.publish(info)

    def _on_info(self, info: Any) -> None:
        self.heartbeats += 1
        before = self.infos[-1] if self.infos else None
        if before is None or (before.state, before.goal_id) != (info.state, info.goal_id):
            self.infos.append(info)

    def _on_chunk(self, chunk: Any) -> None:
        self.announced.append(self.infos[-1].goal_id if self.infos else "")
        if chunk.horizon == 0:
            self.ended.append(chunk.goal_id)
            if chunk.goal_id == self.status.active_goal:
                self.status.active_goal = ""
                self.publish_status()
            return
        self.chunks.append(chunk)
        self.status.holding = not np.isfinite(np.asarray(chunk.data)).all()
        if not self.status.holding:
            self.status.active_goal = chunk.goal_id
            self.status.rejected_streak = 0
        else:
            self.refuse(chunk.goal_id)
            self.status.last_rejection = f"chunk {chunk.sequence} is not finite"
        self.publish_status()


class PolicyProcess:
    """The real policy node in a process of its own."""

    def __init__(self, skill: Path, scene: Path, **parameters: Any) -> None:
        values = {"skill": skill, "scene": scene, "use_sim_time": True, **parameters}
        arguments = [part for name, value in values.items() for part in ("-p", f"{name}:={_yaml(value)}")]
        self._process = run_module(
            "openral_policy_nodes.ros.policy_node",
            "--ros-args",
            "-r",
            "__node:=fake_arm",
            *arguments,
            environment={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
        )
        self.log = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, timeout_s: float = 90) -> int:
        self.log += self._process.communicate(timeout=timeout_s)[1] or ""
        return self._process.wait()

    def stop(self) -> int:
        self._process.terminate()
        return self.wait()

    def kill(self) -> None:
        self._process.kill()
        self.wait()


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def wait_for(condition: Any, what: str, timeout_s: float = 90) -> None:
    """Wait until a condition holds, or fail."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.01)


def wait_future(future: Any, timeout_s: float = 90) -> Any:
    wait_for(future.done, "a future", timeout_s)
    return future.result()


def result_of(handle: Any) -> Any:
    """Wait for the end of a goal."""
    return wait_future(handle.get_result_async()).result
