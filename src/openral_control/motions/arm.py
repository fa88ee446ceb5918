"""What a motion has to know of the arm: its actions, its speed, its workspace, its fingers and its home."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene

HAND_NUMBERS = {"delta_ee_3d_plus_gripper": 3, "delta_ee_6d_plus_gripper": 6}
"""Representation -> how many numbers of an action displace the hand; one more is the gripper's, whose low opens and
whose high closes."""
STEP_RAD = 0.5
"""[rad] rotation of the hand by a command of 1 where the scene's `action.step_rad` is absent."""
MARGIN_M = 0.004
"""[m] from either end of their travel within which fingers count as being at it. What is thinner than this cannot be
told from nothing."""


class MotionRefused(OpenralError):
    """A motion that cannot be made; nothing has moved. `check` names what refused it."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


@dataclass(frozen=True)
class MotionArm:
    """The arm of one scene, as motions command it."""

    dim: int
    """A, length of one action."""
    hand_numbers: int
    """3 or 6: how many of them displace the hand."""
    low: NDArray[np.float64]
    """(A,) least value."""
    high: NDArray[np.float64]
    """(A,) greatest value."""
    step_m: float
    """[m] displacement of the hand within a control step by a command of 1, the part of it that a spring draws it."""
    step_rad: float
    """[rad] rotation of the hand by a command of 1."""
    from_hand: bool
    """A displacement counts from the hand; else from the controller's set point."""
    dt: float
    """[s] one control step."""
    max_horizon_s: float
    """[s] longest chunk."""
    max_speed_m_s: float
    """[m/s] of the hand."""
    box_low: NDArray[np.float64]
    """(3,) [m] workspace in the world frame."""
    box_high: NDArray[np.float64]
    """(3,) [m]"""
    closed_m: float
    """[m] between fingers that closed on nothing."""
    open_m: float
    """[m] between open fingers."""
    home: tuple[float, float, float] | None = None
    """[m] where the hand goes when it is sent home."""

    @classmethod
    def of(cls, scene: DeployScene, robot: RobotDescription) -> MotionArm:
        """Return the arm of a scene.

        Raises:
            MotionRefused: the scene's actions do not displace a hand with a gripper, or its robot has no gripper of a
                known opening.
        """
        action, hand = scene.action, robot.end_effectors[0]
        numbers = HAND_NUMBERS.get(action.representation)
        if numbers is None or action.step_m is None or scene.workspace is None:
            raise MotionRefused(
                "action",
                f"motions displace the hand, this scene's actions are {action.representation}; "
                f"use {' or '.join(HAND_NUMBERS)}",
            )
        if action.dim != numbers + 1:
            raise MotionRefused(
                "action", f"action.dim is {action.dim}, {action.representation} has {numbers + 1} numbers"
            )
        if hand.max_opening_m is None:
            raise MotionRefused(
                "robot",
                f"end effector {hand.name} of {robot.name} has no max_opening_m; add it to robot.yaml",
            )
        low, high = np.asarray(action.low, np.float64), np.asarray(action.high, np.float64)
        if (low[:numbers] >= 0.0).any() or (high[:numbers] <= 0.0).any():
            raise MotionRefused(
                "action", "action.low and action.high allow no displacement both ways; widen them"
            )
        step_m = action.step_m * action.share(scene.dt)
        reach = float(min(high[:3].min(), -low[:3].max())) * step_m / scene.dt
        return cls(
            dim=action.dim,
            hand_numbers=numbers,
            low=low,
            high=high,
            step_m=step_m,
            step_rad=action.step_rad or STEP_RAD,
            from_hand=action.counts_from == "hand",
            dt=scene.dt,
            max_horizon_s=action.max_horizon_s,
            max_speed_m_s=0.999 * min(robot.safety.max_ee_speed_m_s, reach),
            box_low=np.asarray(scene.workspace.low, np.float64),
            box_high=np.asarray(scene.workspace.high, np.float64),
            closed_m=hand.min_opening_m,
            open_m=hand.max_opening_m,
            home=scene.home,
        )

    @property
    def turns(self) -> bool:
        """Whether its actions can turn the hand."""
        return self.hand_numbers == 6

    def require_inside(self, what: str, point: NDArray[np.float64]) -> None:
        """Refuse a target (3,) [m] outside the workspace.

        Raises:
            MotionRefused: it names the axis and the bound.
        """
        for axis, name in enumerate("xyz"):
            value, low, high = float(point[axis]), float(self.box_low[axis]), float(self.box_high[axis])
            if not low <= value <= high:
                bound = f"at least {low:g}" if value < low else f"at most {high:g}"
                raise MotionRefused(
                    "workspace",
                    f"{what}: {name} = {value:.3f} m is outside the workspace; it must be {bound} m",
                )

    def holds_something(self, opening_m: float) -> bool:
        """Whether fingers that were told to close stopped short of it, at an opening [m]."""
        return opening_m > self.closed_m + MARGIN_M

    def is_open(self, opening_m: float) -> bool:
        """Whether an opening [m] is that of open fingers."""
        return opening_m >= self.open_m - MARGIN_M
