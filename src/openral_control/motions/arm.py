"""The description of an arm for motions: actions, speed, workspace, fingers and home position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene

HAND_NUMBERS = {"delta_ee_3d_plus_gripper": 3, "delta_ee_6d_plus_gripper": 6}
"""Number of action values that displace the hand, by representation.

One more value is the gripper command, whose low limit opens and whose high limit closes the fingers."""
STEP_RAD = 0.5
"""[rad] rotation of the hand by a command of 1 where the scene's `action.step_rad` is absent."""
MARGIN_M = 0.004
"""[m] from an end of their travel within which fingers count as being there.

A grasped object that is thinner than this is not detected."""


class MotionRefused(OpenralError):
    """A motion that was refused before anything moved. `check` is the name of the check that refused it."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


@dataclass(frozen=True)
class MotionArm:
    """Parameters of the arm of one scene, for motions."""

    dim: int
    """A, length of one action."""
    hand_numbers: int
    """3 or 6: number of values of an action that displace the hand."""
    low: NDArray[np.float64]
    """(A,) least value."""
    high: NDArray[np.float64]
    """(A,) greatest value."""
    step_m: float
    """[m] displacement of the hand within a control step by a command of 1.

    Where the controller is a spring, it is the part of the commanded displacement that is reached in that time."""
    step_rad: float
    """[rad] rotation of the hand by a command of 1."""
    from_hand: bool
    """Whether a displacement counts from the hand; else from the controller's set point."""
    dt: float
    """[s] one control step."""
    max_horizon_s: float
    """[s] longest chunk."""
    max_speed_m_s: float
    """[m/s] largest speed of the hand."""
    box_low: NDArray[np.float64]
    """(3,) [m] lower corner of the workspace in the world frame."""
    box_high: NDArray[np.float64]
    """(3,) [m] upper corner."""
    closed_m: float
    """[m] opening of fingers that closed on nothing."""
    open_m: float
    """[m] opening of open fingers."""
    home: tuple[float, float, float] | None = None
    """[m] home position of the hand in the world frame."""

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
        """Whether the actions can rotate the hand."""
        return self.hand_numbers == 6

    def require_inside(self, what: str, point: NDArray[np.float64]) -> None:
        """Raise an error if a target (3,) [m] is outside the workspace.

        Raises:
            MotionRefused: with `what`, the axis and the bound.
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
        """Return whether fingers that were commanded to close and came to rest at this opening [m] hold something."""
        return opening_m > self.closed_m + MARGIN_M

    def is_open(self, opening_m: float) -> bool:
        """Return whether an opening [m] is that of open fingers."""
        return opening_m >= self.open_m - MARGIN_M
