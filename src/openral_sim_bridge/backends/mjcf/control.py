"""What an action means: where the joints, or the hand, are to be one control step later."""

from __future__ import annotations

import copy
from typing import Any, Protocol, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError
from openral_core.scene import SceneAction
from openral_sim_bridge.backends.mjcf.hand_target import LEASH_S, STEP_RAD, HandTarget, make_target
from openral_sim_bridge.backends.mjcf.robot import Robot, Weld

ASTRAY_M = 0.1
"""[m] so far from its set point may joints bring the hand to turn it; where they would bring it further, it is not
turned. Without this a rotation that the joints cannot follow swings the hand through the room."""
HAND_NUMBERS = {"delta_ee_6d_plus_gripper": 6, "delta_ee_6d": 6, "delta_ee_3d_plus_gripper": 3}
"""Representation -> how many numbers of an action displace the hand."""
JOINTS, JOINT_DELTAS = "joint_positions", "delta_joints_plus_gripper"
_Joints = TypeVar("_Joints", bound="_LedJoints")
_Hand = TypeVar("_Hand", bound="_LedHand")


class ArmControl(Protocol):
    """Turns the arm's part of actions into targets of one world."""

    joints: NDArray[np.float64]
    """(n,) [rad] or [m] where the drives are to bring the joints."""

    @property
    def hand(self) -> NDArray[np.float64] | None:
        """(3,) [m] where the hand is led; None: the joints are led."""
        ...

    def restart(self, data: Any) -> None:
        """Take the present pose for the target."""
        ...

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step."""
        ...

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Take where the joints are led (n,) [rad], and how fast (n,) [rad/s], in the place of `joints`.

        Returns:
            Whether the next step counts from there; else what the joints lag behind is still to be made up for.
        """
        ...

    def fork(self) -> ArmControl:
        """Return one that goes on from this one's target by itself."""
        ...


class _LedJoints:
    """What the controls share that lead the joints themselves."""

    def __init__(self, robot: Robot) -> None:
        self._chain = robot.chain
        self.joints = np.zeros(len(robot.speed))

    @property
    def hand(self) -> None:
        """(3,) [m] where the hand is led; None: the joints are led."""
        return None

    def restart(self, data: Any) -> None:
        """Take the present pose for the target."""
        self.joints = data.qpos[self._chain.qpos].copy()

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Stay: what is asked for are positions."""
        return False

    def fork(self: _Joints) -> _Joints:
        """Return one that goes on from this one's target by itself."""
        return copy.copy(self)  # what changes is replaced, never written into


class JointControl(_LedJoints):
    """`joint_positions`: each joint's position, approached no faster than robot.yaml allows."""

    def __init__(self, robot: Robot, dt: float) -> None:
        super().__init__(robot)
        self._step = robot.speed * dt

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step. `numbers` (n,) [rad] or [m]."""
        wanted = np.clip(numbers, self._chain.low, self._chain.high)
        self.joints = self.joints + np.clip(wanted - self.joints, -self._step, self._step)


class JointDeltaControl(_LedJoints):
    """`delta_joints_plus_gripper`: the joints' set point, displaced by actions, on a leash."""

    def __init__(self, robot: Robot, step_rad: float, dt: float) -> None:
        super().__init__(robot)
        self._step_rad, self._leash = step_rad, LEASH_S * step_rad / dt

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step. `numbers` (n,) in -1..1."""
        here = data.qpos[self._chain.qpos]
        ahead = np.clip(self.joints - here, -self._leash, self._leash)
        self.joints = np.clip(here + ahead + self._step_rad * numbers, self._chain.low, self._chain.high)


class _LedHand:
    """What the controls share that lead the hand."""

    def __init__(self, target: HandTarget) -> None:
        self._target = target

    @property
    def hand(self) -> NDArray[np.float64]:
        """(3,) [m] where the hand is led; None: the joints are led."""
        return self._target.position

    def fork(self: _Hand) -> _Hand:
        """Return one that goes on from this one's target by itself."""
        other = copy.copy(self)  # what changes is replaced, never written into
        other._target = copy.copy(self._target)
        return other


class HandControl(_LedHand):
    """`delta_ee_*` for an arm with actuators: the hand's set point, then the joints for it."""

    def __init__(self, robot: Robot, target: HandTarget, dt: float) -> None:
        super().__init__(target)
        self._chain, self._step = robot.chain, robot.speed * dt
        self.joints = self._posture = np.zeros(len(robot.speed))

    def restart(self, data: Any) -> None:
        """Take the present pose for the target.

        The posture at the start is the one that the elbow keeps to.
        """
        self._target.restart(data)
        self.joints = self._posture = data.qpos[self._chain.qpos].copy()

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step. `numbers` (3,) or (6,) in -1..1."""
        self._target.move(data, numbers)
        position = self._target.position
        wanted = self._chain.solve(
            data, self.joints, position, self._target.quaternion, self._posture, self._target.turn_m
        )
        if float(np.linalg.norm(self._chain.position_at(data, wanted) - position)) > ASTRAY_M:
            wanted = self._chain.solve(data, self.joints, position, None, self.joints)
        way = wanted - self.joints
        # All joints are slowed alike, so that the hand keeps its direction.
        self.joints = self.joints + way * min(1.0, float((self._step / np.maximum(np.abs(way), 1e-12)).min()))

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Take where the joints are led, if displacements count from the hand on a spring."""
        taken = self._target.go_on_from(self._chain.motion_at(data, joints, velocities))
        if taken:
            self.joints = joints.copy()
        return taken


class MocapControl(_LedHand):
    """`delta_ee_*` for an arm whose hand a mocap body drags."""

    def __init__(self, robot: Robot, weld: Weld, target: HandTarget) -> None:
        super().__init__(target)
        self._chain, self._weld = robot.chain, weld
        self.joints = np.zeros(0)
        self._position, self._quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def restart(self, data: Any) -> None:
        """Take the present pose for the target. The mocap body goes where the weld is at rest."""
        self._target.restart(data)
        hand, turn = data.xpos[self._weld.hand], data.xquat[self._weld.hand]
        position, quaternion = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(position, quaternion, self._weld.position, self._weld.quaternion)
        mujoco.mju_mulPose(position, quaternion, hand.copy(), turn.copy(), position.copy(), quaternion.copy())
        data.mocap_pos[self._weld.mocap], data.mocap_quat[self._weld.mocap] = position, quaternion
        # The mocap body in the frame of the hand's set point, so that both are moved as one.
        back_position, back_quaternion = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(back_position, back_quaternion, self._target.position, self._target.quaternion)
        mujoco.mju_mulPose(
            self._position, self._quaternion, back_position, back_quaternion, position, quaternion
        )

    def go_on_from(self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]) -> bool:
        """Stay: a mocap body is where it is put."""
        return False

    def aim(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step. `numbers` (3,) or (6,) in -1..1."""
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
    """Return how many numbers of an action are the arm's; one more, if there is one, is the gripper's.

    Raises:
        ManifestError: the robot cannot be commanded that way, or the length is wrong.
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
