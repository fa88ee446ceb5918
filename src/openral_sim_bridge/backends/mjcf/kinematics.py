"""Kinematics of the arm: where its hand is for given joints, and joints for a wanted pose of the hand.

Damped least squares with the rest posture in the null space (Nakamura and Hanafusa 1986; Buss 2009, "Introduction to
inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares methods"). `mink` does this and more,
but the releases that take MetaWorld's MuJoCo 3.3.0 are no longer kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

DAMPING = 0.03
"""[m/rad] near a singularity the joints move so little that the hand falls behind, in place of running away."""
ITERATIONS = 4
"""Steps of the solver a control step; each starts where the last one ended."""
_DAMPED = DAMPING**2 * np.eye(6)
POSTURE_GAIN = 0.05
"""Share of the way back to the rest posture that a free elbow goes in one iteration."""


@dataclass(frozen=True)
class HandMotion:
    """Where the hand is and how it moves, in the world."""

    position: NDArray[np.float64]
    """(3,) [m]"""
    quaternion: NDArray[np.float64]
    """(4,) w, x, y, z"""
    velocity: NDArray[np.float64]
    """(3,) [m/s]"""
    spin: NDArray[np.float64]
    """(3,) [rad/s] angular velocity."""


class Chain:
    """n joints between the robot's base and its hand."""

    def __init__(self, model: Any, joints: NDArray[np.int64], hand: tuple[mujoco.mjtObj, int]) -> None:
        """Take the ids of the arm's joints (n,), and kind and id of the hand: a body or a site."""
        self._model = model
        self._scratch = mujoco.MjData(model)
        self.qpos, self.dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        limited = model.jnt_limited[joints].astype(bool)
        self.low = np.where(limited, model.jnt_range[joints, 0], -np.inf)
        self.high = np.where(limited, model.jnt_range[joints, 1], np.inf)
        self._is_site = hand[0] == mujoco.mjtObj.mjOBJ_SITE
        self._hand = hand[1]
        self._jacobian = np.zeros((6, model.nv))
        self.turns = len(joints) >= 6
        """Whether the hand can be turned as well as moved; an arm with fewer joints is only moved."""

    def hand(self, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return position (3,) [m] and quaternion (4,) w, x, y, z of the hand in the world."""
        quaternion = np.zeros(4)
        if self._is_site:
            mujoco.mju_mat2Quat(quaternion, data.site_xmat[self._hand])
            return data.site_xpos[self._hand].copy(), quaternion
        return data.xpos[self._hand].copy(), data.xquat[self._hand].copy()

    def place(self, data: Any) -> NDArray[np.float64]:
        """Return the hand's position (3,) [m] in the world; not to be kept, it changes with `data`."""
        position: NDArray[np.float64] = (data.site_xpos if self._is_site else data.xpos)[self._hand]
        return position

    def solve(
        self,
        data: Any,
        start: NDArray[np.float64],
        position: NDArray[np.float64],
        quaternion: NDArray[np.float64] | None,
        posture: NDArray[np.float64],
        turn_m: float = 1.0,
    ) -> NDArray[np.float64]:
        """Return joints (n,) within their ranges that bring the hand nearer to a pose, or to it.

        Args:
            data: mujoco.MjData that says where all else is.
            start: (n,) where to begin, so that the solution follows the last one.
            position: (3,) [m] of the hand in the world.
            quaternion: (4,) w, x, y, z; None: the hand may turn as it likes.
            posture: (n,) to which joints that the pose leaves free go back.
            turn_m: [m/rad] what an error of the orientation counts beside one of the position, where the arm cannot
                have both. At 1 or more, what a joint at its end leaves undone stays undone: the other joints would
                take the hand from its place for the sake of its turn.
        """
        scratch, joints = self._copy(data), start.copy()
        shared = quaternion is None or turn_m < 1.0
        for _ in range(ITERATIONS):
            here, turned = self._place(joints)
            mujoco.mj_comPos(self._model, scratch)
            error = position - here
            if self.turns and quaternion is not None:
                error = np.concatenate([error, rotation_between(turned, quaternion)])
            jacobian = self.jacobian(scratch)[: len(error)]
            if turn_m != 1.0:
                error[3:], jacobian[3:] = turn_m * error[3:], turn_m * jacobian[3:]
            joints = self._nearer(joints, jacobian, error, posture, shared)
        return joints

    def _nearer(
        self,
        joints: NDArray[np.float64],
        jacobian: NDArray[np.float64],
        error: NDArray[np.float64],
        posture: NDArray[np.float64],
        shared: bool,
    ) -> NDArray[np.float64]:
        """Return joints (n,) after one iteration.

        With `shared`, joints at the ends of their ranges leave the error to the others.
        """
        rows, free = len(error), POSTURE_GAIN * (posture - joints)
        at_high, at_low = joints >= self.high, joints <= self.low
        while True:
            inverse = jacobian.T @ np.linalg.inv(jacobian @ jacobian.T + _DAMPED[:rows, :rows])
            step = inverse @ (error - jacobian @ free) + free
            out = (at_high & (step > 0.0)) | (at_low & (step < 0.0))
            if not (shared and out.any()):
                moved: NDArray[np.float64] = np.minimum(np.maximum(joints + step, self.low), self.high)
                return moved
            jacobian, free = jacobian * ~out, free * ~out

    def position_at(self, data: Any, joints: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where the hand is (3,) [m] with joints (n,), all else being as `data` says."""
        self._copy(data)
        return self._place(joints)[0]

    def motion_at(
        self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]
    ) -> HandMotion:
        """Return the hand's motion with joints (n,) at velocities (n,) [rad/s], all else being as `data` says."""
        scratch = self._copy(data)
        position, quaternion = self._place(joints)
        mujoco.mj_comPos(self._model, scratch)
        twist = self.jacobian(scratch) @ velocities
        return HandMotion(position, quaternion, twist[:3], twist[3:])

    def _copy(self, data: Any) -> Any:
        """Return a world of the solver's own that is as `data` says."""
        scratch = self._scratch
        scratch.qpos[:] = data.qpos
        if len(data.mocap_pos):
            scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        return scratch

    def _place(self, joints: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Put the arm of that world into joints (n,), and return where its hand is; see `hand`."""
        self._scratch.qpos[self.qpos] = joints
        mujoco.mj_kinematics(self._model, self._scratch)
        return self.hand(self._scratch)

    def jacobian(self, data: Any) -> NDArray[np.float64]:
        """Return (6, n): velocity [m/s] and angular velocity [rad/s] of the hand for joint velocities."""
        rows = self._jacobian
        if self._is_site:
            mujoco.mj_jacSite(self._model, data, rows[:3], rows[3:], self._hand)
        else:
            mujoco.mj_jacBody(self._model, data, rows[:3], rows[3:], self._hand)
        return rows[:, self.dofs]


def rotation_between(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return axis times angle (3,) [rad] in the world that turns quaternion `first` into `second` (w, x, y, z)."""
    inverse, difference, rotation = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, first)
    mujoco.mju_mulQuat(difference, second, inverse)
    mujoco.mju_quat2Vel(rotation, difference, 1.0)
    return rotation


def turned(quaternion: NDArray[np.float64], rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a quaternion (w, x, y, z) turned by axis times angle (3,) [rad] in the world."""
    angle = float(np.linalg.norm(rotation))
    if angle < 1e-12:
        return quaternion.copy()
    by, result = np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(by, rotation / angle, angle)
    mujoco.mju_mulQuat(result, by, quaternion)
    mujoco.mju_normalize4(result)
    return result
