"""The motions by name, each of which turns typed parameters into phases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from openral_control.motions.arm import MotionArm, MotionRefused
from openral_control.motions.held_thing import HeldThing
from openral_control.motions.motion import MakePhases, Motion, Phase
from openral_control.motions.params import (
    Home,
    LookFrom,
    MoveTo,
    Nudge,
    PickAt,
    PlaceAt,
    Retract,
    SetGripper,
    params_of,
)
from openral_control.motions.phases import BESIDE_M, LEANING_M, Fingers, Holds, Reach
from openral_control.motions.straight_line import INSET_M, Vector
from openral_core.types import RobotState

OPENING_M, OPENING_SHARE = 0.02, 0.3
"""Fingers that are less than open by the first [m], or by the second as a share of open, whichever is less, count as
closed on something, and are kept closed."""


@dataclass
class _Path:
    """Builder of a path of straight lines with the same speed, tolerance and yaw."""

    arm: MotionArm
    speed_m_s: float
    tolerance_m: float
    yaw: float | None = None
    held: HeldThing | None = None
    """Monitor of what the fingers may hold; a line fails if it is lost."""
    lines: list[Phase] = field(default_factory=list)

    def to(
        self,
        target: Vector,
        gripper: float,
        *,
        passes: bool = False,
        stopped_above_m: float = 0.0,
        beside_m: float = BESIDE_M,
    ) -> None:
        """Add a straight line to a target (3,) [m]; see `Reach` for the arguments."""
        self.lines.append(
            Reach(
                self.arm,
                target,
                gripper=gripper,
                speed_m_s=self.speed_m_s,
                tolerance_m=self.tolerance_m,
                yaw=self.yaw,
                stopped_above_m=stopped_above_m,
                beside_m=beside_m,
                passes=passes,
                held=self.held,
            )
        )

    def over(self, start: Vector, target: Vector, gripper: float, clearance_m: float) -> None:
        """Add lines up to a height above both ends, across, and down to the target (3,) [m].

        Without a clearance [m], or to a target within the tolerance, it is one straight line.
        """
        near = float(np.linalg.norm(target - start)) <= self.tolerance_m
        clearance_m = 0.0 if near else clearance_m
        ceiling = float(self.arm.box_high[2]) - INSET_M
        height = min(max(float(start[2]), float(target[2])) + clearance_m, ceiling)
        if clearance_m > 0.0:
            for corner in (start, target):
                if height - corner[2] > self.tolerance_m:
                    self.to(np.array([corner[0], corner[1], height]), gripper, passes=True)
        self.to(target, gripper)


def make_motion(name: str, values: Mapping[str, Any], arm: MotionArm) -> Motion:
    """Return a motion with its parameters.

    Args:
        name: one of `MOTIONS`.
        values: parameters that fit `params_schema(name)`.
        arm: the arm that executes it.

    Raises:
        KeyError: there is no such motion.
        MotionRefused: a target lies outside the workspace, or the arm cannot execute the motion.
    """
    params = params_of(name, values)
    if getattr(params, "yaw", None) is not None and not arm.turns:
        raise MotionRefused("params", "yaw: this scene's actions cannot turn the hand; leave yaw out")
    targets, make_phases = _MAKERS[name](params, arm)
    return Motion(name, arm, targets, make_phases)


def _gripper(arm: MotionArm, fingers: str, state: RobotState) -> float:
    """Return the gripper command for `fingers` (keep, open or closed); kept fingers that are not open are closed."""
    is_open = not _is_closing(arm, state) if fingers == "keep" else fingers == "open"
    return float(arm.low[-1] if is_open else arm.high[-1])


def _is_closing(arm: MotionArm, state: RobotState) -> bool:
    """Return whether the fingers are so far from open that they count as closed, on something or on nothing."""
    return state.gripper_opening < arm.open_m - min(OPENING_M, OPENING_SHARE * arm.open_m)


def _held(arm: MotionArm, gripper: float, state: RobotState) -> HeldThing | None:
    """Return a monitor of what the closed fingers may hold; None: they hold nothing, or are to open."""
    holds = arm.holds_something(state.gripper_opening) and _is_closing(arm, state)
    return HeldThing(arm, state) if holds and gripper == arm.high[-1] else None


def _point(arm: MotionArm, name: str, values: Sequence[float] | Vector) -> Vector:
    point = np.asarray(values, np.float64)
    arm.require_inside(name, point)
    return point


def _above(arm: MotionArm, point: Vector, height_m: float) -> Vector:
    """Return the point (3,) [m] at a height above another one, limited by the top of the workspace."""
    z = max(float(point[2]), min(float(point[2]) + height_m, float(arm.box_high[2]) - INSET_M))
    return np.array([point[0], point[1], z])


def _travel(
    arm: MotionArm, params: Home | MoveTo | LookFrom, target: Vector
) -> tuple[list[Vector], MakePhases]:
    """Return target and phases of a motion to one target (3,) [m]."""
    yaw = getattr(params, "yaw", None)

    def phases(state: RobotState) -> list[Phase]:
        gripper = _gripper(arm, params.gripper, state)
        path = _Path(arm, params.speed_m_s, params.tolerance_m, yaw, _held(arm, gripper, state))
        path.over(state.ee_position, target, gripper, params.clearance_m)
        return path.lines

    return [target], phases


def _home(params: Home, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    position = params.position or arm.home
    if position is None:
        raise MotionRefused("params", "position is missing, and the scene has no `home`; give a position")
    return _travel(arm, params, _point(arm, "position", position))


def _move_to(params: MoveTo, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    return _travel(arm, params, _point(arm, "position", params.position))


def _look_from(params: LookFrom, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    x, y, z = params.point
    seat = (x + params.aside_m[0], y + params.aside_m[1], z + params.height_m)
    return _travel(arm, params, _point(arm, "point with height_m and aside_m", seat))


def _retract(params: Retract, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    def phases(state: RobotState) -> list[Phase]:
        path = _Path(arm, params.speed_m_s, params.tolerance_m)
        up = _above(arm, _inside(arm, state.ee_position), params.height_m)
        path.to(up, _gripper(arm, params.gripper, state))
        return path.lines

    return [], phases


def _nudge(params: Nudge, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    way = np.zeros(3)
    way["xyz".index(params.direction[1])] = params.distance_m * (1.0 if params.direction[0] == "+" else -1.0)

    def phases(state: RobotState) -> list[Phase]:
        path = _Path(arm, params.speed_m_s, params.tolerance_m)
        target = _point(arm, f"direction {params.direction}", state.ee_position + way)
        path.to(target, _gripper(arm, params.gripper, state))
        return path.lines

    return [], phases


def _set_gripper(params: SetGripper, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    return [], lambda state: [Fingers(arm, _gripper(arm, params.fingers, state))]


def _pick_at(params: PickAt, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    point = _point(arm, "point", params.point)
    above, lifted = (_above(arm, point, height) for height in (params.approach_m, params.lift_m))
    opened, closed = float(arm.low[-1]), float(arm.high[-1])

    def phases(state: RobotState) -> list[Phase]:
        path = _Path(arm, params.speed_m_s, params.tolerance_m, params.yaw)
        _rise(path, state.ee_position, above, opened)
        path.to(above, opened, passes=arm.is_open(state.gripper_opening))
        path.lines.append(Fingers(arm, opened))
        path.to(point, opened, stopped_above_m=params.stopped_above_m)
        closing = Fingers(arm, closed)
        path.lines.append(closing)
        path.to(lifted, closed, passes=True)
        path.lines.append(Holds(arm, closing))
        return path.lines

    return [point], phases


def _place_at(params: PlaceAt, arm: MotionArm) -> tuple[list[Vector], MakePhases]:
    point = _point(arm, "point", params.point)
    above, away = (_above(arm, point, height) for height in (params.approach_m, params.retract_m))
    opened = float(arm.low[-1])

    def phases(state: RobotState) -> list[Phase]:
        kept = _gripper(arm, "keep", state)
        path = _Path(arm, params.speed_m_s, params.tolerance_m, params.yaw, _held(arm, kept, state))
        _rise(path, state.ee_position, above, kept)
        path.to(above, kept, passes=True)
        path.to(point, kept, stopped_above_m=params.stopped_above_m, beside_m=LEANING_M)
        path.lines.append(Fingers(arm, opened))
        path.held = None
        path.to(away, opened)
        return path.lines

    return [point], phases


def _rise(path: _Path, start: Vector, above: Vector, gripper: float) -> None:
    """Add a vertical line up to the height of `above` (3,) [m], if the hand is lower and not vertically below it."""
    aside = float(np.linalg.norm(start[:2] - above[:2]))
    if start[2] < above[2] - path.tolerance_m and aside > path.tolerance_m:
        up = _inside(path.arm, np.array([start[0], start[1], above[2]]))
        path.to(up, gripper, passes=True)


def _inside(arm: MotionArm, point: Vector) -> Vector:
    """Return a point (3,) [m], clipped to the workspace."""
    moved: Vector = np.clip(point, arm.box_low + INSET_M, arm.box_high - INSET_M)
    return moved


_MAKERS: Mapping[str, Callable[[Any, MotionArm], tuple[list[Vector], MakePhases]]] = {
    "home": _home,
    "move_to": _move_to,
    "retract": _retract,
    "set_gripper": _set_gripper,
    "nudge": _nudge,
    "pick_at": _pick_at,
    "place_at": _place_at,
    "look_from": _look_from,
}
MOTIONS: tuple[str, ...] = tuple(_MAKERS)
"""Names of the motions."""
