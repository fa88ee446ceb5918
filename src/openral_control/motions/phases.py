"""The phases that motions are made of: the hand to a point, the fingers to a width, and a look at what is held."""

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
"""[s] that the hand may come no nearer before it counts as stopped; on the way down to a point where something may stop
it; and at the target, before it counts as at rest there."""
LOWERED_M, LOWER_M, STOPPED_S = 0.01, 3e-3, 0.25
"""[m] that a hand must have come down before something can have stopped it, and [s] for which it then has to come no
lower by so many [m]."""
ROUGH_M = 0.02
"""[m] tolerance from which on a hand that is there need not be at rest."""
NEARER_M = 1e-3
"""[m] that count as nearer."""
YAW_RAD = 0.05
"""[rad] from the wanted yaw that counts as there."""
YAW_M = 0.1
"""[m/rad] by which an error of the yaw counts beside one of the position."""
BESIDE_M = 0.025
"""[m] beside the line downwards at which a hand that was stopped above its point still counts as above it."""
LEANING_M = 0.04
"""[m] the same for a hand with something in it, which the thing pushes aside as it meets what it is put on."""
FINGERS_BEGIN_S, FINGERS_REST_S, FINGERS_MOST_S = 0.3, 0.2, 3.0
"""[s] that fingers have to begin to move, must be at rest, and may take in all."""
FINGERS_REST_M = 1e-3
"""[m] by which the opening of fingers at rest changes at most."""
STANDS_SHORT = "short of the target and no longer comes nearer"
"""Words of a motion that something holds up."""
CLOSED_ON_NOTHING = "they closed on nothing"
"""Words of a grasp that ends with nothing between the fingers, and had nothing between them as they closed."""


class Reach:
    """The hand goes straight to a point."""

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
            gripper: number of the gripper's command.
            speed_m_s: [m/s] greatest speed.
            tolerance_m: [m] distance that counts as there.
            yaw: [rad] as `rotation.yaw_of`; None: the hand is not turned.
            stopped_above_m: [m] above the target at which a hand that comes no lower counts as there.
            beside_m: [m] beside the line downwards at which a hand that was stopped still counts as above the target.
            passes: another line follows, so that near enough is enough.
            held: between the fingers; it fails once that is lost. None: they are open, or to be opened.
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
        """Count patience from here."""
        self._guide.begin(state, set_point)
        self._best, self._best_s = np.inf, state.stamp_s
        self._begun_z = self._lowest = float(state.ee_position[2])
        self._lowest_s = state.stamp_s

    def look(self, state: RobotState) -> MotionEnd | None:
        """It ends at the target, where the hand comes no nearer, or where it loses what it held."""
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
        """Return where the set point (3,) [m] has been led by a state."""
        return self._guide.set_point(state)

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Return the next actions (H, A)."""
        return self._guide.chunk(state, self._gripper)

    def _is_led_back(self, state: RobotState) -> bool:
        """Whether the set point, which was led away from the target before this line, comes back to the hand, as after
        a policy that pressed on something; the hand cannot come nearer before."""
        behind_m = self._guide.behind(state)
        comes_back = ROUGH_M < behind_m < self._behind_m - NEARER_M
        if comes_back:
            self._behind_m = behind_m
        return comes_back

    def _stopped_on_the_way_down(self, state: RobotState) -> bool:
        """Whether a hand that goes down to where something may stop it had come lower, and no longer does.

        Something stopped it, though it may still be drawn sideways by a millimetre now and then.
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
    """The fingers open or close while the hand stays where it is."""

    target: Vector | None = None

    def __init__(self, arm: MotionArm, gripper: float) -> None:
        """Take the number of the gripper's command."""
        self._arm, self._gripper = arm, gripper
        self._guide = HandGuide(arm, None, 0.0)
        self._opens = gripper == arm.low[-1]
        self._begun_s = self._since_s = 0.0
        self._farthest_m = 0.0
        self._set_point: Vector | None = None
        self.opening_m = 0.0
        """[m] how far they were apart when they last moved; at the end, where they came to rest."""

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Count from here."""
        self._set_point = set_point
        self._begun_s = self._since_s = state.stamp_s
        self.opening_m = self._farthest_m = state.gripper_opening

    def look(self, state: RobotState) -> MotionEnd | None:
        """It ends where the fingers are at rest after they have moved, and at once where they are open already and are
        to be; it fails where they did not move."""
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
        """Whether the fingers have moved the way that they were told, or need not: what is closed, or closed on
        something, cannot close."""
        if not self._opens and not self._arm.is_open(opening_m):
            return True
        return abs(opening_m - self._farthest_m) > FINGERS_REST_M

    def set_point(self, state: RobotState) -> Vector | None:
        """Return where it was: the hand stayed."""
        return self._set_point

    def chunk(self, state: RobotState) -> NDArray[np.float32]:
        """Return the next actions (H, A)."""
        return self._guide.chunk(state, self._gripper)


class Holds:
    """A look at whether the closed fingers still have something between them; it takes no time."""

    target: Vector | None = None

    def __init__(self, arm: MotionArm, closing: Fingers) -> None:
        """Take the phase in which the fingers closed on it."""
        self._arm, self._closing = arm, closing
        self._set_point: Vector | None = None

    def begin(self, state: RobotState, set_point: Vector | None) -> None:
        """Nothing to begin."""
        self._set_point = set_point

    def set_point(self, state: RobotState) -> Vector | None:
        """Return where it was: nothing was led."""
        return self._set_point

    def look(self, state: RobotState) -> MotionEnd:
        """It succeeds if the fingers stopped short of closed, and have not come apart since."""
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
        """Never asked: it ends at the first look."""
        raise AssertionError("a look at the fingers moves nothing")
