"""Turns an operator's input into the next actions, in the arm's action contract."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_control.motions.arm import MotionArm
from openral_control.motions.straight_line import TURN_RAD_S, HandGuide
from openral_core.types import RobotState

HORIZON_S = 0.15
"""[s] length of a chunk, for which the arm moves on without further commands. At 20 Hz one command may be lost."""
REACH_M = 0.15
"""[m] distance ahead of the hand of the point to which it is led."""


@dataclass(frozen=True)
class Steer:
    """An operator's input at one moment."""

    x: float = 0.0
    """-1..1, along x of the world frame."""
    y: float = 0.0
    z: float = 0.0
    turn: float = 0.0
    """-1..1, about the world's z, where the arm's actions can turn the hand."""
    speed_m_s: float = 0.1
    """[m/s] of the hand at a direction of length 1."""

    @property
    def direction(self) -> NDArray[np.float64]:
        """(3,) of length 1 at most."""
        vector = np.array([self.x, self.y, self.z], np.float64)
        return vector / max(1.0, float(np.linalg.norm(vector)))

    @property
    def still(self) -> bool:
        """Whether nothing is pressed."""
        return not (self.x or self.y or self.z or self.turn)


def actions_for(arm: MotionArm, state: RobotState, steer: Steer, gripper: float) -> NDArray[np.float32]:
    """Return the next actions (H, A), which stay inside the workspace and lead the hand no further than it follows.

    Args:
        arm: whose actions they are.
        state: of the robot now; only its end effector is looked at.
        steer: what is pressed; nothing: the hand holds where it is led, for as long as a motion would last. Steps
            whose time has passed are not executed, and fingers are to move also where the pose was heard late.
        gripper: number of the gripper, between the arm's bounds.
    """
    steps = max(1, round(min(HORIZON_S, arm.max_horizon_s) / arm.dt))
    direction = steer.direction
    size = float(np.linalg.norm(direction))
    target = None
    if size > 0.0:
        ahead = np.asarray(state.ee_position, np.float64) + REACH_M * direction / size
        target = np.clip(ahead, arm.box_low, arm.box_high)
    rows = HandGuide(arm, target, steer.speed_m_s * size).chunk(state, gripper)[:steps]
    if arm.turns and steer.turn:
        turned = np.clip(steer.turn, -1.0, 1.0) * TURN_RAD_S * arm.dt / arm.step_rad
        rows[:, 5] = np.clip(turned, arm.low[5], arm.high[5])
    return rows
