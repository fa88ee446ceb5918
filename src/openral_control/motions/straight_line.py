"""Guidance of the hand along a straight line to a target, by displacements that are computed from each new state.

A controller's set point is ahead of the hand, which follows with a lag. The guide takes the set point from the state,
or else sums up its own displacements, moves it at a bounded speed to the target, and stops it there. A remaining error
of the hand is then reduced by an integral term. So the hand does not overshoot, whatever its lag, and an obstructed
hand is pressed with a bounded displacement.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from openral_control.motions.arm import MotionArm
from openral_control.motions.hand_yaw import yaw_error
from openral_core.types import RobotState

Vector = NDArray[np.float64]

HORIZON_S = 0.25
"""[s] length of a chunk, which the arm executes while no newer one comes."""
LEAD_M, CHUNK_LEAD_M = 0.05, 0.03
"""[m] largest lead of the set point over the hand, and the largest additional lead within one chunk, during which the
hand follows."""
INTEGRAL_1_S = 3.0
"""[1/s] gain of the integral of the remaining error."""
BIAS_M = 0.05
"""[m] largest displacement of the set point beyond the target, the bound of the integral."""
INSET_M = 0.003
"""[m] distance from the sides of the workspace that the set point keeps."""
AT_GOAL_M = 1e-3
"""[m] distance from its goal within which the set point counts as there."""
REST_M_S = 0.005
"""[m/s] speed below which a hand counts as at rest, where displacements count from the hand."""
TURN_1_S = 3.0
"""[1/s] gain of the error of the hand's yaw."""
TURN_RAD_S = 1.0
"""[rad/s] largest rotation speed of the hand."""


class HandGuide:
    """Computes the displacements of one straight line; each target needs a new one."""

    def __init__(
        self, arm: MotionArm, target: Vector | None, speed_m_s: float, yaw: float | None = None
    ) -> None:
        """Take a target.

        Args:
            arm: the arm.
            target: (3,) [m] inside the workspace; None: the set point does not move.
            speed_m_s: [m/s] largest speed.
            yaw: [rad] as in `hand_yaw.yaw_of`; None: the hand is not rotated.
        """
        self._arm, self._target, self._yaw = arm, target, yaw
        self._step = min(speed_m_s, arm.max_speed_m_s) * arm.dt
        self._horizon = horizon_of(arm)
        self._set_point = np.zeros(3)
        self._bias = np.zeros(3)
        self._sent = np.zeros((0, 3))
        self._stamp_s: float | None = None

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Continue from the set point (3,) [m] of the previous line; None: it is at the hand.

        A hand that passes from one line to the next lags behind its set point, which would otherwise be led beyond the
        end of the new line by that lag. Where steps were skipped, as a bridge skips late ones, the set point is behind
        the sum of the displacements; so along each axis, the one of hand and sum is used that is nearer to the target.
        """
        if set_point is not None and self._target is not None:
            hand = state.ee_position
            is_nearer = np.abs(set_point - self._target) < np.abs(hand - self._target)
            self._set_point, self._stamp_s = np.where(is_nearer, set_point, hand), state.stamp_s

    def set_point(self, state: RobotState) -> Vector:
        """Return the set point (3,) [m] in a state."""
        if state.ee_target is not None and not self._arm.from_hand:
            return state.ee_target.copy()
        if self._stamp_s is None or self._arm.from_hand:
            return state.ee_position.copy()
        passed_s = max(0.0, state.stamp_s - self._stamp_s)
        led = self._set_point + self._sent[: round(passed_s / self._arm.dt)].sum(axis=0)
        return state.ee_position + _at_most(led - state.ee_position, LEAD_M + CHUNK_LEAD_M)

    def behind(self, state: RobotState) -> float:
        """Return by how much [m] the set point is farther from the target than the hand; 0: it is nearer."""
        if self._target is None:
            return 0.0
        led, hand = (
            float(np.linalg.norm(p - self._target)) for p in (self.set_point(state), state.ee_position)
        )
        return max(0.0, led - hand)

    def chunk(self, state: RobotState, gripper: float) -> NDArray[np.float32]:
        """Return the next actions (H, A) after a state, with a gripper command."""
        rows = np.zeros((self._horizon, self._arm.dim))
        rows[:, -1] = gripper
        if self._target is not None:
            self._observe(state, self._target)
            self._sent = self._displacements(state.ee_position, self._target)
            rows[:, :3] = self._sent / self._arm.step_m
        if self._yaw is not None and self._arm.turns:
            rows[:, 5] = self._turns(yaw_error(state.ee_quaternion, self._yaw)) / self._arm.step_rad
        # Rounding to float32 must not exceed the limits.
        rows = np.clip(rows, np.nextafter(self._arm.low, 0.0), np.nextafter(self._arm.high, 0.0))
        return rows.astype(np.float32)

    def _observe(self, state: RobotState, target: Vector) -> None:
        """Update the estimate of the set point, and the integral, with a new state."""
        hand = state.ee_position
        passed_s = 0.0 if self._stamp_s is None else max(0.0, state.stamp_s - self._stamp_s)
        if self._stamp_s is None or self._arm.from_hand:
            rests = float(np.linalg.norm(hand - self._set_point)) < REST_M_S * passed_s
        else:
            rests = bool(np.linalg.norm(self._goal(target) - self._set_point) <= AT_GOAL_M)
        self._set_point, self._stamp_s = self.set_point(state), state.stamp_s
        if rests:
            near = _at_most(target - hand, BIAS_M)
            self._bias = _at_most(self._bias + INTEGRAL_1_S * passed_s * near, BIAS_M)

    def _goal(self, target: Vector) -> Vector:
        """Return the goal of the set point (3,) [m]: the target plus the integral, inside the workspace."""
        low, high = self._arm.box_low + INSET_M, self._arm.box_high - INSET_M
        goal: Vector = np.clip(target + self._bias, low, high)
        return goal

    def _displacements(self, hand: Vector, target: Vector) -> Vector:
        """Return (H, 3) [m] displacements of the set point towards its goal.

        Their sum, counted from `hand` (3,) [m], does not leave the workspace either.
        """
        goal, arm = self._goal(target), self._arm
        low = np.minimum(arm.box_low + INSET_M, hand)
        high = np.maximum(arm.box_high - INSET_M, hand)
        set_point, led = self._set_point, hand.copy()
        rows = np.zeros((self._horizon, 3))
        for index in range(self._horizon):
            step = _at_most(goal - set_point, self._step)
            lead, before = (float(np.linalg.norm(p - hand)) for p in (set_point + step, set_point))
            if lead > before and lead > LEAD_M + min(self._step * (index + 1), CHUNK_LEAD_M):
                break
            # The bridge adds the steps of a chunk up from the hand, so that this path must stay inside as well.
            rows[index] = _at_most(np.clip(led + step, low, high) - led, self._step)
            set_point, led = set_point + rows[index], led + rows[index]
        return rows

    def _turns(self, error: float) -> Vector:
        """Return (H,) [rad] rotations about the world's z that reduce an error of the yaw [rad]."""
        turns = np.zeros(self._horizon)
        for index in range(self._horizon):
            most = TURN_RAD_S * self._arm.dt
            turns[index] = float(np.clip(TURN_1_S * self._arm.dt * error, -most, most))
            error -= turns[index]
        return turns


def horizon_of(arm: MotionArm) -> int:
    """Return H, the number of steps of a chunk of this arm."""
    return max(1, math.floor(min(HORIZON_S, arm.max_horizon_s) / arm.dt + 1e-6))


def _at_most(vector: Vector, length: float) -> Vector:
    """Return a vector (3,), shortened to a length if it is longer."""
    return vector * min(1.0, length / max(float(np.linalg.norm(vector)), 1e-12))
