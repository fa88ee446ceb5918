"""Leads the hand along a straight line to a target: from each new state to the next displacements.

A controller's set point runs ahead of the hand, which follows with a lag. The guide takes the set point from the state,
or counts where it has led it where the state has none, moves it at a bounded speed to the target, and stops it there; a
hand that then stands off the target is drawn closer by an integral of its error. So the hand does not overshoot,
whatever its lag, and a hand that something holds up is pressed with a bounded displacement.
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
"""[s] length of a chunk: what the arm goes on with when no newer observation is answered."""
LEAD_M, CHUNK_LEAD_M = 0.05, 0.03
"""[m] so far may the set point run ahead of the hand; and so much further within one chunk, whose first steps the hand
follows while the last are still to come."""
INTEGRAL_1_S = 3.0
"""[1/s] rate at which a hand that stands off the target is drawn closer."""
BIAS_M = 0.05
"""[m] greatest displacement of the set point beyond the target."""
INSET_M = 0.003
"""[m] from the workspace's walls that the hand is not led beyond."""
AT_GOAL_M = 1e-3
"""[m] from its goal at which the set point counts as there."""
REST_M_S = 0.005
"""[m/s] below which a hand counts as at rest, where displacements count from the hand."""
TURN_1_S = 3.0
"""[1/s] rate at which an error of the hand's yaw is turned away."""
TURN_RAD_S = 1.0
"""[rad/s] greatest speed at which the hand is turned."""


class HandGuide:
    """One straight line. Make a new one for each target."""

    def __init__(
        self, arm: MotionArm, target: Vector | None, speed_m_s: float, yaw: float | None = None
    ) -> None:
        """Take a target.

        Args:
            arm: the arm.
            target: (3,) [m] inside the workspace; None: the hand stays where it is led.
            speed_m_s: [m/s] greatest speed.
            yaw: [rad] as `rotation.yaw_of`; None: the hand is not turned.
        """
        self._arm, self._target, self._yaw = arm, target, yaw
        self._step = min(speed_m_s, arm.max_speed_m_s) * arm.dt
        self._horizon = horizon_of(arm)
        self._set_point = np.zeros(3)
        self._bias = np.zeros(3)
        self._sent = np.zeros((0, 3))
        self._stamp_s: float | None = None

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Go on from where the line before has led the set point (3,) [m]; None: it is where the hand is.

        A hand that passes from one line to the next is behind its set point, which would else be led beyond the end
        of the new line by as much. Where steps were skipped, as a bridge skips those that come late, the set point is
        behind what was counted; so along each axis whichever of hand and count is nearer to the new target is taken.
        """
        if set_point is not None and self._target is not None:
            hand = state.ee_position
            is_nearer = np.abs(set_point - self._target) < np.abs(hand - self._target)
            self._set_point, self._stamp_s = np.where(is_nearer, set_point, hand), state.stamp_s

    def set_point(self, state: RobotState) -> Vector:
        """Return where the set point (3,) [m] has been led by a state."""
        if state.ee_target is not None and not self._arm.from_hand:
            return state.ee_target.copy()
        if self._stamp_s is None or self._arm.from_hand:
            return state.ee_position.copy()
        passed_s = max(0.0, state.stamp_s - self._stamp_s)
        led = self._set_point + self._sent[: round(passed_s / self._arm.dt)].sum(axis=0)
        return state.ee_position + _at_most(led - state.ee_position, LEAD_M + CHUNK_LEAD_M)

    def behind(self, state: RobotState) -> float:
        """Return by how much [m] the set point is farther from the target than the hand; 0 where it is nearer."""
        if self._target is None:
            return 0.0
        led, hand = (
            float(np.linalg.norm(p - self._target)) for p in (self.set_point(state), state.ee_position)
        )
        return max(0.0, led - hand)

    def chunk(self, state: RobotState, gripper: float) -> NDArray[np.float32]:
        """Return the next actions (H, A) after a state, with the gripper's number."""
        rows = np.zeros((self._horizon, self._arm.dim))
        rows[:, -1] = gripper
        if self._target is not None:
            self._observe(state, self._target)
            self._sent = self._displacements(state.ee_position, self._target)
            rows[:, :3] = self._sent / self._arm.step_m
        if self._yaw is not None and self._arm.turns:
            rows[:, 5] = self._turns(yaw_error(state.ee_quaternion, self._yaw)) / self._arm.step_rad
        # float32 may round a number beyond its limit.
        rows = np.clip(rows, np.nextafter(self._arm.low, 0.0), np.nextafter(self._arm.high, 0.0))
        return rows.astype(np.float32)

    def _observe(self, state: RobotState, target: Vector) -> None:
        """Move the estimate of the set point on to a new state, and the integral with it."""
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
        """Return where the set point is led, inside the workspace."""
        low, high = self._arm.box_low + INSET_M, self._arm.box_high - INSET_M
        goal: Vector = np.clip(target + self._bias, low, high)
        return goal

    def _displacements(self, hand: Vector, target: Vector) -> Vector:
        """Return (H, 3) [m] displacements of the set point to its goal; `hand` (3,) [m] is not led outside by them."""
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
            # The bridge adds a chunk up from the hand, so that path stays inside as well as the set point's.
            rows[index] = _at_most(np.clip(led + step, low, high) - led, self._step)
            set_point, led = set_point + rows[index], led + rows[index]
        return rows

    def _turns(self, error: float) -> Vector:
        """Return (H,) [rad] rotations about the world's z that make up for an error of the yaw."""
        turns = np.zeros(self._horizon)
        for index in range(self._horizon):
            most = TURN_RAD_S * self._arm.dt
            turns[index] = float(np.clip(TURN_1_S * self._arm.dt * error, -most, most))
            error -= turns[index]
        return turns


def horizon_of(arm: MotionArm) -> int:
    """Return H, the steps of a chunk of this arm."""
    return max(1, math.floor(min(HORIZON_S, arm.max_horizon_s) / arm.dt + 1e-6))


def _at_most(vector: Vector, length: float) -> Vector:
    """Return a vector (3,), shortened to a length if need be."""
    return vector * min(1.0, length / max(float(np.linalg.norm(vector)), 1e-12))
