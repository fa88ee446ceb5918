"""Teleoperation of the arm: announced like a skill, and checked by the same envelope as the skills' chunks.

No timer sends chunks. Each command of a page makes one chunk of `HORIZON_S`, so that the arm holds by itself when no
more arrive: after a closed tab, a lost network or a hanging process. While the operator controls the arm, the goals of
policies are paused (service `intervene` of the bridge).
"""

from __future__ import annotations

import math
import threading
import time
from array import array
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np
from geometry_msgs.msg import PointStamped, PoseStamped
from numpy.typing import NDArray
from openral.msg import ActionChunk, SkillInfo
from openral.srv import Intervene
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from openral_console.live.deployment import LiveDeployment
from openral_console.ros.service_call import ServiceCall
from openral_console.teleop.steering import HORIZON_S, Steer, actions_for
from openral_control.motions.arm import MotionArm, MotionRefused
from openral_core.errors import OpenralError
from openral_core.robot import load_robot
from openral_core.ros.qos import LATCHED
from openral_core.scene import DeployScene, load_scene
from openral_core.teleoperation_names import TELEOPERATION
from openral_core.types import RobotState

SKILL = "openral/teleoperation"
HEARTBEAT_S = 1.0
"""[s] between two announcements."""
SETTLED_S = 0.5
"""[s] after which the bridge's statuses know of the arm being taken."""
OLD_POSE_S = 0.5
"""[s] from which the pose of the hand is too old to be answered."""


class TeleopController:
    """One operator at a time. Its methods may be called from any thread."""

    def __init__(self, node: Node, deployment: LiveDeployment, scene: str) -> None:
        """Prepare.

        Args:
            node: in whose name it speaks.
            deployment: what is known of the arm.
            scene: name or path of the scene, whose action contract counts; empty: there is no teleoperation.
        """
        self._node, self._deployment = node, deployment
        self.refusal = ""
        """Why the arm cannot be moved by hand at all; empty: it can."""
        self.holder = ""
        """Who has the arm: an id that the page chose; empty: nobody."""
        self._lock = threading.RLock()
        self._goal, self._sequence = "", 0
        self._gripper: float | None = None
        """Number that the gripper was told last; None: it is the one of the step of `_others` that is due."""
        self._others = _GripperSteps()
        self._pose: Any = None
        self._pose_at_s = self._engaged_s = 0.0
        self._target: Any = None
        self._listening: list[Any] = []
        self._scene: DeployScene
        self._arm: MotionArm
        try:
            if not scene:
                raise MotionRefused("scene", "no scene was named: start with --scene, or by the launch file")
            self._scene = load_scene(scene)
            self._arm = MotionArm.of(self._scene, load_robot(self._scene.robot_id))
        except OpenralError as error:
            self.refusal = str(error)
            return
        self._intervene = ServiceCall(node, Intervene, "intervene")
        self._infos = node.create_publisher(SkillInfo, "skills", LATCHED)
        self._chunks = node.create_publisher(ActionChunk, "action_chunk", 10)
        node.create_timer(HEARTBEAT_S, self._beat, clock=Clock(clock_type=ClockType.STEADY_TIME))
        # What the gripper was told last it is told on, whoever told it: nobody lets go of a thing by taking the arm.
        node.create_subscription(ActionChunk, "action_chunk", self._on_chunk, 10)

    def why_not(self) -> str:
        """Return why the arm cannot be taken over now; empty: it can."""
        return self.refusal or self._unfit() or ("another page has the arm" if self.holder else "")

    def engage(self, holder: str, operator: str) -> str:
        """Take the arm over from the policies; return why that failed, or nothing. Not for the executor's thread."""
        with self._lock:
            if why := self.why_not():
                return why
            goal = self._goal = uuid4().hex
            self._sequence, self.holder, self._engaged_s = 0, holder, time.monotonic()
        # Not under the lock: the answer comes by the executor's thread, which waits for it.
        fault = self._intervene(take=True, who=operator, goal_id=goal)
        with self._lock:
            if goal != self._goal:
                return "the page went while the bridge was asked; the arm holds until it is given back"
            if fault:
                self.holder = self._goal = ""
                return fault
            self._engaged_s = time.monotonic()
            self._gripper = self._told()
            subscribe = self._node.create_subscription
            self._listening = [
                subscribe(PoseStamped, "ee_pose", self._on_pose, 1),
                subscribe(PointStamped, "ee_target", self._on_target, 1),
            ]
            self._announce()
            return ""

    def give_back(self, holder: str, operator: str) -> str:
        """Give the arm back to the policies; return why that failed, or an empty text. Not for the executor's thread.

        Anybody may give back an arm whose holder is gone.
        """
        with self._lock:
            if self.holder and holder != self.holder:
                return "another page has the arm"
            goal = self._goal
        fault = self._intervene(take=False, who=operator, goal_id=goal)
        self.disengage(holder)
        return fault

    def disengage(self, holder: str) -> None:
        """End the holder's control: the arm holds at once, and an interrupted goal stays paused."""
        with self._lock:
            if not self.holder or holder != self.holder:
                return
            self._chunks.publish(ActionChunk(goal_id=self._goal, skill=SKILL))
            self.holder = self._goal = ""
            self._announce()
            for subscription in self._listening:
                self._node.destroy_subscription(subscription)
            self._listening, self._pose, self._target = [], None, None

    def drive(self, holder: str, steer: Steer) -> str:
        """Send a chunk of `HORIZON_S`; return why it was not sent, or an empty text."""
        with self._lock:
            if not self.holder or holder != self.holder:
                return "you do not have the arm"
            if why := self._unfit() or self._lost():
                self.disengage(holder)
                return why
            pose = self._pose
            if pose is None or time.monotonic() - self._pose_at_s > OLD_POSE_S:
                return "the pose of the hand is not heard"
            self._send(pose, steer)
            return ""

    def toggle_gripper(self, holder: str) -> None:
        """Close open fingers and open closed ones; with the next command."""
        with self._lock:
            if holder and holder == self.holder:
                low, high = float(self._arm.low[-1]), float(self._arm.high[-1])
                self._gripper = high if self._told() < (low + high) / 2 else low
                self.drive(holder, Steer())

    def _unfit(self) -> str:
        """Return why the arm cannot be moved by hand; empty: it can."""
        if self._deployment.control_is_stale:
            return "no bridge is heard"
        return "the emergency stop is latched" if self._deployment.estopped else ""

    def _lost(self) -> str:
        """Return why the bridge no longer accepts the holder's chunks; empty: it does."""
        control = self._deployment.control
        if not self._listening or control is None or control.operator:
            return ""  # where nothing is listened to yet, the bridge was asked and has not answered
        if control.received_s < self._engaged_s + SETTLED_S:
            return ""
        return "the arm is no longer yours: every motion was stopped, or the bridge began anew"

    def _send(self, pose: Any, steer: Steer) -> None:
        position, turn = pose.pose.position, pose.pose.orientation
        state = RobotState(
            stamp_s=pose.header.stamp.sec + 1e-9 * pose.header.stamp.nanosec,
            joint_names=(),
            joint_positions=np.zeros(0),
            ee_position=np.array([position.x, position.y, position.z]),
            ee_quaternion=np.array([turn.x, turn.y, turn.z, turn.w]),
            gripper_opening=float("nan"),
            ee_target=self._target,
        )
        data = actions_for(self._arm, state, steer, self._told())
        chunk = ActionChunk(
            goal_id=self._goal,
            skill=SKILL,
            instruction="by hand",
            representation=self._scene.action.representation,
            sequence=self._sequence,
            horizon=data.shape[0],
            dim=data.shape[1],
            dt=self._scene.dt,
            data=array("f", data.tobytes()),
        )
        chunk.header.stamp = pose.header.stamp
        self._sequence += 1
        self._chunks.publish(chunk)

    def _announce(self) -> None:
        """Say who moves the arm, in the way of skills."""
        name = self._node.get_fully_qualified_name()
        info = SkillInfo(
            name=SKILL,
            slug="teleoperation",
            kind=TELEOPERATION,
            license="none",
            node=name,
            state="active" if self.holder else "inactive",
            active=bool(self.holder),
            horizon_s=HORIZON_S + self._scene.dt,
            control_hz=self._scene.control_hz,
            goal_id=self._goal,
        )
        info.header.stamp = self._node.get_clock().now().to_msg()
        self._infos.publish(info)

    def _beat(self) -> None:
        with self._lock:
            if self.holder and (self._unfit() or self._lost()):
                self.disengage(self.holder)
            elif self._listening:
                self._announce()

    def _on_pose(self, message: Any) -> None:
        self._pose, self._pose_at_s = message, time.monotonic()

    def _on_target(self, message: Any) -> None:
        self._target = np.array([message.point.x, message.point.y, message.point.z])

    def _on_chunk(self, message: Any) -> None:
        with self._lock:
            if (
                message.skill == SKILL or self._listening
            ):  # while an operator has the arm, others move nothing
                return
            if not message.horizon:  # the rest of the goal's chunk is not executed
                self._gripper = self._told()
            elif message.dim == self._arm.dim and len(message.data) == message.horizon * message.dim:
                steps = np.array(message.data, np.float64)[self._arm.dim - 1 :: self._arm.dim]
                if np.isfinite([*steps, message.latency_s, message.dt]).all():
                    self._others = _GripperSteps(steps, time.monotonic() - message.latency_s, message.dt)
                    self._gripper = None

    def _told(self) -> float:
        """Return the number that the gripper was told last, between the arm's bounds; open, if it was told nothing."""
        low, high = float(self._arm.low[-1]), float(self._arm.high[-1])
        told = self._others.at(time.monotonic()) if self._gripper is None else self._gripper
        return low if told is None else min(max(told, low), high)


@dataclass(frozen=True)
class _GripperSteps:
    """What a chunk tells the gripper."""

    steps: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """(H,)"""
    began_s: float = 0.0
    """[s] monotonic, of the observation that it answers."""
    dt: float = 1.0
    """[s] between two steps."""

    def at(self, now_s: float) -> float | None:
        """Return the number of the step that is executed at a moment, or was last; None: there is none."""
        if not len(self.steps):
            return None
        passed = (now_s - self.began_s) / self.dt if self.dt > 0.0 else math.inf
        return float(self.steps[int(min(max(passed, 0.0), len(self.steps) - 1.0))])
