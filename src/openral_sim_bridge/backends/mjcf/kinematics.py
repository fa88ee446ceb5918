"""Forward and inverse kinematics of the arm.

The inverse uses damped least squares with a rest posture in the null space (Nakamura and Hanafusa 1986; Buss 2009,
"Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares methods"). The
package `mink` does this and more, but its releases that accept MetaWorld's MuJoCo 3.3.0 are no longer available.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

DAMPING = 0.03
"""[m/rad] damping factor; it limits the steps of the joints near a singularity, where the hand then lags behind."""
ITERATIONS = 4
"""Iterations of the solver per call; each begins with the result of the last one."""
_DAMPED = {rows: DAMPING**2 * np.eye(rows) for rows in (3, 6)}
POSTURE_GAIN = 0.05
"""Share of the difference to the rest posture that joints with null space motion cover in one iteration."""


@dataclass(frozen=True)
class HandMotion:
    """Pose and velocity of the hand in the world frame."""

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
        self._rows = np.zeros((6, model.nv))
        self._velocity_rows, self._spin_rows = self._rows[:3], self._rows[3:]
        self._at, self._columns = as_slice(self.qpos), as_slice(self.dofs)
        self._scratch_qpos = self._scratch.qpos
        self.turns = len(joints) >= 6
        """Whether the hand's orientation is controlled as well as its position, which needs at least 6 joints."""

    def hand(self, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return position (3,) [m] and quaternion (4,) w, x, y, z of the hand in the world."""
        quaternion = np.zeros(4)
        if self._is_site:
            mujoco.mju_mat2Quat(quaternion, data.site_xmat[self._hand])
            return data.site_xpos[self._hand].copy(), quaternion
        return data.xpos[self._hand].copy(), data.xquat[self._hand].copy()

    def place(self, data: Any) -> NDArray[np.float64]:
        """Return the hand's position (3,) [m] in the world, as a view that changes with `data`."""
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
        """Return joint positions (n,) within their ranges that bring the hand to a pose, or nearer to it.

        Args:
            data: mujoco.MjData with the state of all other joints.
            start: (n,) joint positions to begin with, such as the last solution.
            position: (3,) [m] of the hand in the world.
            quaternion: (4,) w, x, y, z of the hand in the world; None: its orientation is free.
            posture: (n,) rest posture that joints approach in the null space.
            turn_m: [m/rad] weight of an error of the orientation relative to one of the position. Below 1, or without
                `quaternion`, the other joints compensate for a joint at the end of its range; at 1 or more they do
                not, since they would displace the hand for the sake of its orientation.
        """
        scratch, joints = self._copy(data), start
        shared = quaternion is None or turn_m < 1.0
        for _ in range(ITERATIONS):
            here, turned = self._place(joints)
            mujoco.mj_comPos(self._model, scratch)
            error, jacobian = position - here, self.jacobian(scratch)
            if self.turns and quaternion is not None:
                error = np.concatenate([error, rotation_between(turned, quaternion)])
            else:
                jacobian = jacobian[:3]
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

        With `shared`, the other joints compensate for joints at the ends of their ranges.
        """
        free, solved = POSTURE_GAIN * (posture - joints), np.empty(len(error))
        while True:
            damped = jacobian @ jacobian.T + _DAMPED[len(error)]
            mujoco.mju_cholFactor(damped, 0.0)
            mujoco.mju_cholSolve(solved, damped, error - jacobian @ free)
            step = solved @ jacobian + free
            out = _outward(joints, step, self.low, self.high) if shared else None
            if out is None or not out.any():
                moved: NDArray[np.float64] = np.minimum(np.maximum(joints + step, self.low), self.high)
                return moved
            jacobian, free = jacobian * ~out, free * ~out

    def position_at(self, data: Any, joints: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the hand's position (3,) [m] for joint positions (n,), with all other joints as in `data`."""
        self._copy(data)
        return self._place(joints)[0]

    def motion_at(
        self, data: Any, joints: NDArray[np.float64], velocities: NDArray[np.float64]
    ) -> HandMotion:
        """Return the hand's motion for joint positions (n,) and velocities (n,), with all other joints as in `data`."""
        scratch = self._copy(data)
        position, quaternion = self._place(joints)
        mujoco.mj_comPos(self._model, scratch)
        twist = self.jacobian(scratch) @ velocities
        return HandMotion(position, quaternion, twist[:3], twist[3:])

    def _copy(self, data: Any) -> Any:
        """Copy the positions of `data` to the solver's own MjData and return it."""
        scratch = self._scratch
        self._scratch_qpos[:] = data.qpos
        if len(data.mocap_pos):
            scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        return scratch

    def _place(self, joints: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Set the joint positions (n,) in the solver's MjData, and return the hand's pose; see `hand`."""
        self._scratch_qpos[self._at] = joints
        mujoco.mj_kinematics(self._model, self._scratch)
        return self.hand(self._scratch)

    def jacobian(self, data: Any) -> NDArray[np.float64]:
        """Return the Jacobian (6, n) from joint velocities to the hand's velocity and angular velocity in the world."""
        of = mujoco.mj_jacSite if self._is_site else mujoco.mj_jacBody
        of(self._model, data, self._velocity_rows, self._spin_rows, self._hand)
        columns: NDArray[np.float64] = self._rows[:, self._columns].copy()
        return columns


def as_slice(indices: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return indices (n,) as a slice where they follow one another, which is faster to look up."""
    first = int(indices[0]) if len(indices) else 0
    return slice(first, first + len(indices)) if (np.diff(indices) == 1).all() else indices


def _outward(
    joints: NDArray[np.float64],
    step: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which joints (n,) are at an end of their range and would be moved beyond it by a step (n,)."""
    outward: NDArray[np.bool_] = ((joints >= high) & (step > 0.0)) | ((joints <= low) & (step < 0.0))
    return outward


def rotation_between(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return axis times angle (3,) [rad] in the world that rotates quaternion `first` to `second` (w, x, y, z)."""
    inverse, difference, rotation = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, first)
    mujoco.mju_mulQuat(difference, second, inverse)
    mujoco.mju_quat2Vel(rotation, difference, 1.0)
    return rotation


def turned(quaternion: NDArray[np.float64], rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a quaternion (w, x, y, z) rotated by axis times angle (3,) [rad] in the world."""
    angle = math.sqrt(rotation.dot(rotation))
    if angle < 1e-12:
        return quaternion.copy()
    by, result = np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(by, rotation / angle, angle)
    mujoco.mju_mulQuat(result, by, quaternion)
    mujoco.mju_normalize4(result)
    return result
