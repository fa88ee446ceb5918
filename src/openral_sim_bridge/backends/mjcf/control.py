"""Conversion of actions to targets: joint positions, or a pose of the hand, for each control step."""

from __future__ import annotations

import copy
import math
from typing import Any, Protocol, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError
from openral_core.scene import SceneAction
from openral_sim_bridge.backends.mjcf.hand_target import LEASH_S, STEP_RAD, HandTarget, make_target
from openral_sim_bridge.backends.mjcf.robot import Robot, Weld

ASTRAY_M = 0.1
"""[m] largest distance of the hand from its set point that is accepted for the sake of its orientation; beyond it only
the position is solved for. Otherwise a rotation that the joints cannot follow swings the hand far from its path."""
HAND_NUMBERS = {"delta_ee_6d_plus_gripper": 6, "delta_ee_6d": 6, "delta_ee_3d_plus_gripper": 3}
"""Representation -> number of an action's elements that displace the hand."""
JOINTS, JOINT_DELTAS = "joint_positions", "delta_joints_plus_gripper"
_Joints = TypeVar("_Joints", bound="_LedJoints")
_Hand = TypeVar("_Hand", bound="_LedHand")


class ArmControl(Protocol):
    """Converts the arm's part of actions to targets of one world."""

    joints: NDArray[np.float64]
    """(n,) [rad or m] target of the drives."""

    @property
    def hand(self) -> NDArray[np.float64] | None:
        """(3,) [m] target position of the hand in the world; None: actions command the joints."""
        ...

    def restart(self, data: Any) -> None:
        """Set the target to the present pose."""
        ...

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step."""
        ...

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Offer positions (n,) [rad] and velocities (n,) [rad/s], which the joints can follow, in place of `joints`.

        Returns:
            Whether the target was replaced by them; else it is unchanged, and the joints must still catch up with it.
        """
        ...

    def fork(self) -> ArmControl:
        """Return an independent copy with the present target."""
        ...


class _LedJoints:
    """The common part of controls whose actions command the joints."""

    def __init__(self, robot: Robot) -> None:
        self._chain = robot.chain
        self.joints = np.zeros(len(robot.speed))

    @property
    def hand(self) -> None:
        """None, since actions command the joints."""
        return None

    def restart(self, data: Any) -> None:
        """Set the target to the present positions."""
        self.joints = data.qpos[self._chain.qpos].copy()

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Keep the target, since actions command positions; return False."""
        return False

    def fork(self: _Joints) -> _Joints:
        """Return an independent copy with the present target."""
        return copy.copy(self)  # arrays are replaced, never modified in place


class JointControl(_LedJoints):
    """`joint_positions`: the target approaches the commanded positions no faster than robot.yaml allows."""

    def __init__(self, robot: Robot, dt: float) -> None:
        super().__init__(robot)
        self._step = robot.speed * dt

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step towards `numbers` (n,) [rad or m]."""
        wanted = np.clip(numbers, self._chain.low, self._chain.high)
        self.joints = self.joints + np.clip(wanted - self.joints, -self._step, self._step)


class JointDeltaControl(_LedJoints):
    """`delta_joints_plus_gripper`: actions displace the joints' set point, which stays near the joints.

    Its distance from each joint is limited to `LEASH_S` of motion at full command.
    """

    def __init__(self, robot: Robot, step_rad: float, dt: float) -> None:
        super().__init__(robot)
        self._step_rad, self._leash = step_rad, LEASH_S * step_rad / dt

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Displace the target by `numbers` (n,), each -1 to 1, in units of `step_rad`."""
        here = data.qpos[self._chain.qpos]
        ahead = np.clip(self.joints - here, -self._leash, self._leash)
        self.joints = np.clip(here + ahead + self._step_rad * numbers, self._chain.low, self._chain.high)


class _LedHand:
    """The common part of controls whose actions command the hand."""

    def __init__(self, target: HandTarget) -> None:
        self._target = target

    @property
    def hand(self) -> NDArray[np.float64]:
        """(3,) [m] target position of the hand in the world."""
        return self._target.position

    def fork(self: _Hand) -> _Hand:
        """Return an independent copy with the present target."""
        other = copy.copy(self)  # arrays are replaced, never modified in place
        other._target = copy.copy(self._target)
        return other


class HandControl(_LedHand):
    """`delta_ee_*` for an arm with actuators: the hand's target is converted to joints by inverse kinematics."""

    def __init__(self, robot: Robot, target: HandTarget, dt: float) -> None:
        super().__init__(target)
        self._chain, self._step = robot.chain, robot.speed * dt
        self.joints = self._posture = np.zeros(len(robot.speed))

    def restart(self, data: Any) -> None:
        """Set the target to the present pose, and the rest posture of the null space to the present joints."""
        self._target.restart(data)
        self.joints = self._posture = data.qpos[self._chain.qpos].copy()

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step with `numbers` (3,) or (6,), each -1 to 1."""
        self._target.move(data, numbers)
        position = self._target.position
        wanted = self._chain.solve(
            data, self.joints, position, self._target.quaternion, self._posture, self._target.turn_m
        )
        off = self._chain.position_at(data, wanted) - position
        if math.sqrt(off.dot(off)) > ASTRAY_M:
            wanted = self._chain.solve(data, self.joints, position, None, self.joints)
        way = wanted - self.joints
        # All joints are slowed by the same factor, so that the hand keeps its direction.
        self.joints = self.joints + way * min(1.0, float((self._step / np.maximum(np.abs(way), 1e-12)).min()))

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Replace the target if displacements count from the hand (`SprungHand`); see `ArmControl.go_on_from`."""
        taken = self._target.go_on_from(self._chain.motion_at(data, joints, velocities))
        if taken:
            self.joints = joints.copy()
        return taken


class MocapControl(_LedHand):
    """`delta_ee_*` for an arm whose hand is welded to a mocap body, which drags it."""

    def __init__(self, robot: Robot, weld: Weld, target: HandTarget) -> None:
        super().__init__(target)
        self._chain, self._weld = robot.chain, weld
        self.joints = np.zeros(0)
        self._position, self._quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def restart(self, data: Any) -> None:
        """Set the target to the present pose, and move the mocap body to where the weld is at rest."""
        self._target.restart(data)
        hand, turn = data.xpos[self._weld.hand], data.xquat[self._weld.hand]
        position, quaternion = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(position, quaternion, self._weld.position, self._weld.quaternion)
        mujoco.mju_mulPose(position, quaternion, hand.copy(), turn.copy(), position.copy(), quaternion.copy())
        data.mocap_pos[self._weld.mocap], data.mocap_quat[self._weld.mocap] = position, quaternion
        # The pose of the mocap body in the frame of the hand's target, which is constant.
        back_position, back_quaternion = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(back_position, back_quaternion, self._target.position, self._target.quaternion)
        mujoco.mju_mulPose(
            self._position, self._quaternion, back_position, back_quaternion, position, quaternion
        )

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Keep the target, since a mocap body needs no joint targets; return False."""
        return False

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step with `numbers` (3,) or (6,), each -1 to 1."""
        self._target.move(data, numbers)
        position, quaternion = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            position,
            quaternion,
            self._target.position,
            self._target.quaternion,
            self._position,
            self._quaternion,
        )
        data.mocap_pos[self._weld.mocap], data.mocap_quat[self._weld.mocap] = position, quaternion


def arm_numbers(action: SceneAction, robot: Robot) -> int:
    """Return the number of an action's elements for the arm; a further one, if there is one, is for the gripper.

    Raises:
        ManifestError: the robot cannot be commanded by this representation, or the action has another length.
    """
    name, joints = action.representation, len(robot.speed)
    if name not in (*HAND_NUMBERS, JOINTS, JOINT_DELTAS):
        known = ", ".join([*HAND_NUMBERS, JOINTS, JOINT_DELTAS])
        raise ManifestError(f"action.representation: {name} is not understood here; use one of {known}")
    if name in (JOINTS, JOINT_DELTAS) and robot.weld is not None:
        raise ManifestError(
            f"action.representation: {name} cannot move an arm that hangs from a mocap body; "
            "use delta_ee_6d_plus_gripper, or give its joints actuators and remove `mocap`"
        )
    arm = HAND_NUMBERS.get(name, joints)
    if HAND_NUMBERS.get(name) == 6 and robot.weld is None and not robot.chain.turns:
        raise ManifestError(
            f"action.representation: {name} turns the hand, for which {joints} joints are too few; "
            "use delta_ee_3d_plus_gripper or joint_positions"
        )
    with_gripper = name.endswith("_plus_gripper") or (name == JOINTS and robot.gripper is not None)
    if with_gripper and robot.gripper is None:
        raise ManifestError(
            f"action.representation: {name} has a gripper, but backend_options.gripper is absent; "
            "say which joints are its fingers"
        )
    if action.dim != arm + with_gripper:
        parts = f"{arm} of the arm{' and one of the gripper' if with_gripper else ''}"
        raise ManifestError(
            f"action.dim: is {action.dim}, {name} of this robot has {parts}; fix dim, low, high"
        )
    return arm


def make_control(action: SceneAction, robot: Robot, dt: float) -> ArmControl:
    """Return the control of one world for the scene's actions; `dt` [s] is a control step."""
    if action.representation == JOINTS:
        return JointControl(robot, dt)
    if action.representation == JOINT_DELTAS:
        return JointDeltaControl(robot, float(action.step_rad or STEP_RAD), dt)
    target = make_target(action, robot.chain, dt)
    if robot.weld is not None:
        return MocapControl(robot, robot.weld, target)
    return HandControl(robot, target, dt)
