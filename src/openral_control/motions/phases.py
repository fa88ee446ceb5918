"""The phases of motions: a straight line of the hand, a motion of the fingers, and a check of the grasp."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_control.motions.arm import MotionArm
from openral_control.motions.hand_yaw import yaw_error
from openral_control.motions.held_thing import HELD_M, HeldThing
from openral_control.motions.motion import MotionEnd
from openral_control.motions.straight_line import HandGuide, Vector
from openral_core.types import RobotState

PATIENCE_S, TOUCH_S, REST_S = 1.0, 0.3, 0.15
"""[s] without approach to the target after which the hand counts as stopped: in general, close above a target where it
may be stopped by an object, and within the tolerance of the target, where it then counts as at rest."""
LOWERED_M, LOWER_M, STOPPED_S = 0.01, 3e-3, 0.25
"""A hand counts as stopped from below after it has come down by the first [m], when it has not come down by the second
[m] more within the time [s]."""
ROUGH_M = 0.02
"""[m] tolerance from which on a hand at its target need not be at rest."""
NEARER_M = 1e-3
"""[m] least decrease of the distance that counts as approach."""
YAW_RAD = 0.05
"""[rad] tolerance of the yaw."""
YAW_M = 0.1
"""[m/rad] weight of an error of the yaw relative to one of the position."""
BESIDE_M = 0.025
"""[m] largest horizontal distance from its target at which a stopped hand counts as above it."""
LEANING_M = 0.04
"""[m] the same for a hand that holds an object, which may push it aside on contact with the surface."""
FINGERS_BEGIN_S, FINGERS_REST_S, FINGERS_MOST_S = 0.3, 0.2, 3.0
"""[s] time in which fingers must begin to move, for which they must be at rest, and in which they must end."""
FINGERS_REST_M = 1e-3
"""[m] largest change of the opening of fingers at rest."""
STANDS_SHORT = "short of the target and no longer comes nearer"
"""Part of the message of a motion that is obstructed."""
CLOSED_ON_NOTHING = "they closed on nothing"
"""Part of the message of a grasp without an object, from the closing of the fingers to its end."""


class Reach:
    """Moves the hand in a straight line to a point."""

    def __init__(
        self,
        arm: MotionArm,
        target: Vector,
        *,
        gripper: float,
        speed_m_s: float,
        tolerance_m: float,
        yaw: float | None = None,
        stopped_above_m: float = 0.0,
        beside_m: float = BESIDE_M,
        passes: bool = False,
        held: HeldThing | None = None,
    ) -> None:
        """Take the target.

        Args:
            arm: the arm.
            target: (3,) [m] inside the workspace.
            gripper: gripper command.
            speed_m_s: [m/s] largest speed.
            tolerance_m: [m] distance within which the target is reached.
            yaw: [rad] as in `hand_yaw.yaw_of`; None: the hand is not rotated.
            stopped_above_m: [m] height above the target up to which a stopped hand counts as having reached it.
            beside_m: [m] largest horizontal distance from the target at which it does.
            passes: another line follows, so that the tolerance is at least 0.02 m and the hand need not rest.
            held: monitor of the held object, without which the phase fails; None: nothing is held.
        """
        self._held = held
        self._beside_m = beside_m
        self._arm, self._yaw, self._gripper = arm, yaw, gripper
        self.target: Vector = target
        self._speed_m_s, self._tolerance_m = speed_m_s, max(tolerance_m, 0.02) if passes else tolerance_m
        self._above_m = stopped_above_m
        self._rest_s = 0.0 if passes or tolerance_m >= ROUGH_M else REST_S
        self._guide = HandGuide(arm, target, speed_m_s, yaw)
        self._best, self._best_s = np.inf, 0.0
        self._begun_z = self._lowest = self._behind_m = np.inf
        self._lowest_s = 0.0

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Begin in a state, from which on the times are measured."""
        self._guide.begin(state, set_point)
        self._best, self._best_s = np.inf, state.stamp_s
        self._begun_z = self._lowest = float(state.ee_position[2])
        self._lowest_s = state.stamp_s

    def look(self, state: RobotState) -> MotionEnd | None:
        """Return the end at the target, where the hand has stopped, or where it has lost what it held; else None."""
        if self._held is not None and (lost := self._held.lost(state)):
            return MotionEnd(False, lost)
        away = float(np.linalg.norm(state.ee_position - self.target))
        if self._is_led_back(state):
            self._best_s = state.stamp_s
        turn = 0.0 if self._yaw is None else abs(yaw_error(state.ee_quaternion, self._yaw))
        if away + YAW_M * turn < self._best - NEARER_M:
            self._best, self._best_s = away + YAW_M * turn, state.stamp_s
        waited_s = state.stamp_s - self._best_s
        if away <= self._tolerance_m and turn <= YAW_RAD:
            there = MotionEnd(True, f"the hand is {1e3 * away:.0f} mm from the target")
            return there if waited_s >= self._rest_s else None
        touches = self._stopped_on_the_way_down(state) or waited_s >= TOUCH_S
        if touches and turn <= YAW_RAD and self._is_stopped_above(state.ee_position):
            above = float(state.ee_position[2] - self.target[2])
            return MotionEnd(True, f"the hand was stopped {1e2 * above:.1f} cm above the target")
        if waited_s < PATIENCE_S:
            return None
        if away <= self._tolerance_m:
            return MotionEnd(
                False, f"the hand is at the target, but {turn:.2f} rad short of its yaw, and no longer turns"
            )
        return MotionEnd(False, f"the hand stands {1e2 * away:.1f} cm {STANDS_SHORT}")

    def set_point(self, state: RobotState) -> Vector | None:
        """Return the set point (3,) [m] in a state."""
        return self._guide.set_point(state)

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Return the next actions (H, A)."""
        return self._guide.chunk(state, self._gripper)

    def _is_led_back(self, state: RobotState) -> bool:
        """Return whether the set point, which began beyond the hand as seen from the target, returns to the hand.

        It begins so after a policy that pressed on something, and the hand cannot approach the target until then.
        """
        behind_m = self._guide.behind(state)
        comes_back = ROUGH_M < behind_m < self._behind_m - NEARER_M
        if comes_back:
            self._behind_m = behind_m
        return comes_back

    def _stopped_on_the_way_down(self, state: RobotState) -> bool:
        """Return whether a hand on the way down to a target above which it may be stopped was stopped.

        It may still move sideways by a millimetre at times, so that only its height counts.
        """
        z = float(state.ee_position[2])
        if z < self._lowest - LOWER_M:
            self._lowest, self._lowest_s = z, state.stamp_s
        lowered = self._begun_z - self._lowest >= LOWERED_M
        return self._above_m > 0.0 and lowered and state.stamp_s - self._lowest_s >= STOPPED_S

    def _is_stopped_above(self, hand: Vector) -> bool:
        beside = float(np.linalg.norm(hand[:2] - self.target[:2]))
        return beside <= self._beside_m and 0.0 <= hand[2] - self.target[2] <= self._above_m


class Fingers:
    """Opens or closes the fingers while the hand does not move."""

    target: Vector | None = None

    def __init__(self, arm: MotionArm, gripper: float) -> None:
        """Take the arm and the gripper command."""
        self._arm, self._gripper = arm, gripper
        self._guide = HandGuide(arm, None, 0.0)
        self._opens = gripper == arm.low[-1]
        self._begun_s = self._since_s = 0.0
        self._farthest_m = 0.0
        self._set_point: Vector | None = None
        self.opening_m = 0.0
        """[m] opening at the last movement of the fingers; at the end, that at which they came to rest."""

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Begin in a state, from which on the times are measured."""
        self._set_point = set_point
        self._begun_s = self._since_s = state.stamp_s
        self.opening_m = self._farthest_m = state.gripper_opening

    def look(self, state: RobotState) -> MotionEnd | None:
        """Return the end where the fingers have moved and are at rest, or failed to move; else None.

        To open fingers that are open already ends at once.
        """
        apart = MotionEnd(True, f"the fingers are {1e2 * state.gripper_opening:.1f} cm apart")
        if self._opens and self._arm.is_open(state.gripper_opening):
            return apart
        self._farthest_m = (min if self._opens else max)(self._farthest_m, state.gripper_opening)
        if abs(state.gripper_opening - self.opening_m) > FINGERS_REST_M:
            self.opening_m, self._since_s = state.gripper_opening, state.stamp_s
        passed_s = state.stamp_s - self._begun_s
        rests = state.stamp_s - self._since_s >= FINGERS_REST_S and passed_s >= FINGERS_BEGIN_S
        obeyed = self._have_moved(state.gripper_opening)
        if passed_s < FINGERS_MOST_S and not (rests and obeyed):
            return None
        asked = "open" if self._opens else "close"
        return apart if obeyed else MotionEnd(False, f"{apart.message} and did not {asked}")

    def _have_moved(self, opening_m: float) -> bool:
        """Return whether the fingers have moved as commanded, or need not, since they are to close and are not open."""
        if not self._opens and not self._arm.is_open(opening_m):
            return True
        return abs(opening_m - self._farthest_m) > FINGERS_REST_M

    def set_point(self, state: RobotState) -> Vector | None:
        """Return the set point (3,) [m] with which the phase began, since the hand does not move."""
        return self._set_point

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Return the next actions (H, A)."""
        return self._guide.chunk(state, self._gripper)


class Holds:
    """Checks that the closed fingers hold something. It ends at once."""

    target: Vector | None = None

    def __init__(self, arm: MotionArm, closing: Fingers) -> None:
        """Take the arm and the phase in which the fingers were closed."""
        self._arm, self._closing = arm, closing
        self._set_point: Vector | None = None

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Note the set point."""
        self._set_point = set_point

    def set_point(self, state: RobotState) -> Vector | None:
        """Return the set point (3,) [m] with which the phase began."""
        return self._set_point

    def look(self, state: RobotState) -> MotionEnd:
        """Return success if the fingers are not fully closed and have not opened since they closed, else failure."""
        apart, closed_m = (
            f"the fingers are {1e2 * state.gripper_opening:.1f} cm apart",
            self._closing.opening_m,
        )
        if state.gripper_opening > closed_m + HELD_M:
            return MotionEnd(
                False, f"{apart}: they were {1e2 * closed_m:.1f} cm apart when they closed, and let go since"
            )
        if self._arm.holds_something(state.gripper_opening):
            return MotionEnd(True, f"{apart}: they hold something")
        return MotionEnd(False, f"{apart}: {CLOSED_ON_NOTHING}")

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Raise an AssertionError, since the phase ends before it needs actions."""
        raise AssertionError("a look at the fingers moves nothing")
