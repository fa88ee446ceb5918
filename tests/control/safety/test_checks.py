"""Each check of the safety filter by itself: what it lets pass, slows and stops, on random steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openral_control.safety.clear_path import ClearPathCheck
from openral_control.safety.contact import ContactCheck
from openral_control.safety.distance import DistanceCheck
from openral_control.safety.hold_to_run import HoldToRun
from openral_control.safety.joint_limits import ArmLimits, Vector, limits_of
from openral_control.safety.joint_position import PositionCheck
from openral_control.safety.joint_step import JointStep, PaceCheck, PlaceCheck
from openral_control.safety.joint_velocity import VelocityCheck
from openral_control.safety.make_filter import make_filter
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_control.safety.safety_filter import SafetyFilter
from openral_control.safety.singularity import SingularityCheck
from openral_control.safety.slow_start import SlowStart
from openral_control.safety.workspace import WorkspaceCheck
from openral_core.errors import ManifestError
from openral_core.manifest.contracts import Box
from openral_core.robot import load_robot
from openral_core.scene_arm import SafetyLimits

FR3 = limits_of(load_robot("fr3"))
# As an FR3 reports them: libfranka 0.21, rate_limiting.h.
OFFSETS = np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35])
DECELERATIONS = np.array([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0])
LIMITS = replace(FR3, velocity_offset=OFFSETS, deceleration=DECELERATIONS)
MIDDLE = (LIMITS.low + LIMITS.high) / 2
DT = 0.05

joints = st.lists(st.floats(0.0, 1.0), min_size=7, max_size=7).map(
    lambda shares: LIMITS.low + np.array(shares) * (LIMITS.high - LIMITS.low)
)
velocities = st.lists(st.floats(-20.0, 20.0), min_size=7, max_size=7).map(np.array)


def step(start: Vector, asked: Vector, **changes: object) -> JointStep:
    return replace(JointStep(start, asked, DT, 0.0, start, np.zeros(7)), **changes)  # type: ignore[arg-type]


class PointArm:
    """Its first three joints are the place of its hand [m], the next three that of its elbow; a wall is at x = 1."""

    def points(self, joints: Vector) -> Vector:
        return joints[:6].reshape(2, 3)

    def point_slopes(self, joints: Vector) -> Vector:
        return np.eye(6, 7).reshape(2, 3, 7)

    def distance(self, joints: Vector, limit_m: float) -> float:
        return min(limit_m, 1.0 - float(joints[0]))

    def distance_slope(self, joints: Vector, limit_m: float) -> Vector:
        return -np.eye(7)[0] * (1.0 - float(joints[0]) < limit_m)

    def clear_between(self, postures: Vector, least_m: float) -> bool:
        return all(self.distance(joints, least_m) >= least_m for joints in postures)

    def condition(self, joints: Vector) -> float:
        return 1.0 + 10.0 * abs(float(joints[0]))

    def condition_slope(self, joints: Vector) -> Vector:
        return 10.0 * np.sign(joints[0]) * np.eye(7)[0] / self.condition(joints)

    def jacobian(self, joints: Vector) -> Vector:
        return np.eye(6, 7)


@given(joints, velocities)
def test_velocity_leaves_no_more_than_the_arm_allows(start: Vector, asked: Vector) -> None:
    check = VelocityCheck(LIMITS, 0.1, 0.1, LIMITS.acceleration)
    share = check.share(step(start, asked))
    assert 0.0 <= share <= 1.0
    allowed = share * asked
    for place in (start, start + DT * asked):
        least, greatest = LIMITS.speeds_at(place)
        assert ((allowed >= least - 1e-9) & (allowed <= greatest + 1e-9)).all()


def test_velocity_near_the_end_of_a_range_is_libfrankas_curve() -> None:
    near = LIMITS.high - 0.05
    least, greatest = LIMITS.speeds_at(near)
    assert greatest == pytest.approx(np.maximum(np.sqrt(2 * DECELERATIONS * 0.05) - OFFSETS, 0.0))
    assert least == pytest.approx(-LIMITS.velocity)


@given(joints, joints)
def test_position_keeps_the_margin_or_gets_no_worse(start: Vector, end: Vector) -> None:
    check, low, high = PositionCheck(LIMITS, 0.1), LIMITS.low + 0.1, LIMITS.high - 0.1
    inside = ((end >= low) & (end <= high)).all()
    worse = ((end < low - 1e-9) & (end < start - 1e-9)) | ((end > high + 1e-9) & (end > start + 1e-9))
    assert check.allows(start, end) == bool(inside or not worse.any())


@given(st.lists(st.floats(-2.0, 2.0), min_size=14, max_size=14))
def test_workspace_lets_nothing_out_and_everything_back(numbers: list[float]) -> None:
    hand, elbow = Box(low=(-1, -1, 0), high=(1, 1, 1)), Box(low=(-1, -1, -1), high=(1, 1, 1))
    check = WorkspaceCheck(PointArm(), hand, elbow)
    start, end = np.array(numbers[:7]), np.array(numbers[7:])
    low, high = np.array([*hand.low, *elbow.low]), np.array([*hand.high, *elbow.high])
    outside = [np.maximum(np.maximum(low - q[:6], q[:6] - high), 0.0) for q in (start, end)]
    assert check.allows(start, end) == bool((outside[1] <= np.maximum(outside[0], 1e-3)).all())


@given(st.floats(0.0, 0.999), st.floats(-5.0, 5.0))
def test_distance_slows_and_stops_on_the_way_to_things_only(place: float, speed: float) -> None:
    check = DistanceCheck(PointArm(), slow_m=0.05, stop_m=0.01)
    start, asked = np.zeros(7), np.zeros(7)
    start[0], asked[0] = place, speed
    one = step(start, asked)
    before, after = 1.0 - place, 1.0 - float(one.end[0])
    share = check.share(one)
    assert share == 1.0 if after >= min(before, 0.055) else 0.25 <= share < 1.0
    assert check.allows(start, one.end) == (after > 0.015 or after >= before)


@given(st.floats(-4.0, 4.0), st.floats(-5.0, 5.0))
def test_singularity_slows_stops_and_lets_out(place: float, speed: float) -> None:
    arm, check = PointArm(), SingularityCheck(PointArm(), slow=17.0, stop=30.0)
    start, asked = np.zeros(7), np.zeros(7)
    start[0], asked[0] = place, speed
    one = step(start, asked)
    before, after = arm.condition(start), arm.condition(one.end)
    assert check.allows(start, one.end) == (after < 30.0 or after < before)
    share = check.share(one)
    assert 0.25 <= share <= 1.0
    if after <= 17.0 or (after < before and after <= 34.0):
        assert share == 1.0
    else:
        assert share < 1.0


def test_contact_holds_at_the_threshold_and_at_what_is_no_number() -> None:
    check = ContactCheck(15.0)
    for torque, share in ((0.0, 1.0), (14.9, 1.0), (-15.0, 0.0), (40.0, 0.0), (np.nan, 0.0)):
        external = np.zeros(7)
        external[3] = torque
        assert check.share(step(MIDDLE, np.zeros(7), external=external)) == share


def test_hold_to_run_counts_for_its_time_and_not_from_the_future() -> None:
    check = HoldToRun(0.3)
    assert check.share(step(MIDDLE, np.zeros(7), now_s=100.0)) == 0.0
    check.beat(100.0)
    for now_s, share in ((100.0, 1.0), (100.29, 1.0), (100.31, 0.0), (99.0, 0.0)):
        assert check.share(step(MIDDLE, np.zeros(7), now_s=now_s)) == share


def test_slow_start_asks_for_the_pose_once_and_for_slowness_after_each_stop() -> None:
    check = SlowStart(MIDDLE, 0.2, 3.0, 0.2, LIMITS.velocity, "openral robot home fr3")
    moving = np.full(7, 0.1)
    away = MIDDLE + np.eye(7)[2] * 0.3
    assert check.share(step(away, moving)) == 0.0
    assert "joint 3 is 0.30 rad from the scene's start pose, allowed 0.20 rad" in check.refusal(away)
    assert "; lead the arm there by `openral robot home fr3`, with no deployment beside it" in check.refusal(
        away
    )
    assert check.share(step(MIDDLE, np.zeros(7), now_s=1.0)) == 1.0  # nothing moves yet
    assert check.share(step(MIDDLE, moving, now_s=5.0)) == 0.2
    assert check.share(step(MIDDLE, moving, now_s=9.0)) == 0.2  # another check kept the arm still
    moved = MIDDLE + 0.01
    assert check.share(step(moved, moving, now_s=10.0)) == 0.2
    assert check.share(step(moved, moving, now_s=12.9)) == 0.2
    assert check.share(step(away, moving, now_s=13.1)) == 1.0
    check.restart()
    assert check.share(step(away, moving, now_s=20.0)) == 0.2


def test_an_arm_that_lags_behind_positions_far_away_starts_slowly_too() -> None:
    slow, far = SlowStart(MIDDLE, 0.2, 3.0, 0.2, LIMITS.velocity, ""), MIDDLE + np.eye(7)[0] * 2.0
    guard = SafetyFilter([slow], [], ClearPathCheck(PointArm(), -9.0), LIMITS, PointArm(), DT)
    guard.restart(MIDDLE)
    asked, speeds = MIDDLE, []
    for number in range(40):  # `joint_positions`, whose target goes on at the joint's full speed
        asked = asked + np.clip(far - asked, -DT * LIMITS.velocity, DT * LIMITS.velocity)
        speeds.append(guard.next(asked, guard.led, np.zeros(7), number * DT).velocities[0])
    assert 0.15 * LIMITS.velocity[0] < max(speeds) <= 0.2 * LIMITS.velocity[0] + 1e-9


def test_a_slow_start_that_is_restarted_amid_a_step_is_slow() -> None:
    check = SlowStart(MIDDLE, 0.2, 3.0, 0.2, LIMITS.velocity, "")
    assert check.share(step(MIDDLE, np.ones(7))) == 0.2

    class Step:
        """Another thread resets an emergency stop while its time is read."""

        start, velocities, measured = MIDDLE + 0.01, np.ones(7), MIDDLE

        @property
        def now_s(self) -> float:
            check.restart()
            return 1.0

    assert check.share(Step()) == 0.2  # type: ignore[arg-type]


@pytest.mark.parametrize("pressed", [0.0, 40.0])
def test_an_arm_that_something_kept_still_starts_slowly_afterwards(pressed: float) -> None:
    slow = SlowStart(MIDDLE, 0.2, 3.0, 0.2, LIMITS.velocity, "")
    side = float(MIDDLE[0]) - 9e-4  # as far beyond it as the hand may be
    box = Box(low=(side - 3.0, -3.0, -3.0), high=(side, 3.0, 3.0))
    guard = make_filter(SafetyLimits(), LIMITS, PointArm(), box, DT, slow)
    guard.restart(MIDDLE)
    pushed, out, away = pressed * np.eye(7)[1], np.eye(7)[0], np.eye(7)[6]
    for number in range(100):  # 5 s
        held = guard.next(guard.led + DT * out, MIDDLE, pushed, number * DT)
        assert np.abs(held.positions - MIDDLE).max() < 1e-3
    speeds = [
        guard.next(guard.led + DT * away, guard.led, np.zeros(7), number * DT).velocities[6]
        for number in range(100, 110)
    ]
    assert 0.05 < max(speeds) <= 0.2 + 1e-9


def test_the_way_is_free_for_an_arm_that_is_far_enough_away_or_is_too_near_already() -> None:
    check, far, near = ClearPathCheck(PointArm(), 0.01), np.zeros(7), np.eye(7)[0] * 0.995
    assert check.free(far, far, far)
    assert not check.free(far, near, far)
    assert not check.free(far, far, near)
    assert check.free(near, far, far)


class Stop:
    """Stops the arm while it is told to."""

    name = "stop"
    yields = False
    on = False

    def share(self, step: JointStep) -> float:
        return 0.0 if self.on else 1.0


@given(st.lists(st.tuples(joints, st.booleans()), min_size=1, max_size=30))
def test_whatever_is_asked_for_the_plan_keeps_acceleration_and_can_brake(
    asked: list[tuple[Vector, bool]],
) -> None:
    stop = Stop()
    paces: list[PaceCheck] = [stop, VelocityCheck(LIMITS, 0.1, 0.1, 0.8 * LIMITS.acceleration)]
    guard = SafetyFilter(
        paces, [PositionCheck(LIMITS, 0.1)], ClearPathCheck(PointArm(), -1.0), LIMITS, PointArm(), DT
    )
    guard.restart(MIDDLE)
    before, speed = MIDDLE, np.zeros(7)
    for wanted, stop.on in asked:
        safe = guard.next(wanted, before, np.zeros(7), 0.0)
        assert (np.abs(safe.velocities - speed) <= LIMITS.acceleration * DT + 1e-9).all()
        assert safe.positions == pytest.approx(
            before + DT * (speed + safe.velocities) / 2, abs=0.8 * 10 * DT**2
        )
        rest = safe.positions + safe.velocities * np.abs(safe.velocities) / (2 * 0.8 * LIMITS.acceleration)
        assert (rest >= LIMITS.low + 0.1 - 1e-6).all()
        assert (rest <= LIMITS.high - 0.1 + 1e-6).all()
        if stop.on:
            assert (np.abs(safe.velocities) <= np.abs(speed) + 1e-12).all()
            assert safe.stopped_by == "stop"
        before, speed = safe.positions, safe.velocities


@settings(max_examples=10)
@given(st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6))
def test_an_arm_that_is_pressed_against_a_wall_and_out_of_its_box_goes_along_them(
    numbers: list[float],
) -> None:
    arm, box = PointArm(), Box(low=(-3, -3, -1), high=(3, 3, 0.5))
    distance = DistanceCheck(arm, slow_m=0.05, stop_m=0.01)
    places: list[PlaceCheck] = [WorkspaceCheck(arm, box, None), distance]
    free = replace(LIMITS, low=np.full(7, -9.0), high=np.full(7, 9.0))
    guard = SafetyFilter([distance], places, ClearPathCheck(arm, 0.01), free, arm, DT)
    guard.restart(np.zeros(7))
    speed = np.array([0.3, 0.2, 0.2, *0.1 * np.array(numbers[:3]), 0.0])
    slowest = 0.0
    for step in range(1, 201):
        before = guard.led
        safe = guard.next(before + DT * speed, before, np.zeros(7), 0.0)
        assert safe.positions[0] <= 0.99 + 1e-9
        assert safe.positions[2] <= 0.5 + 1.1e-3
        assert (np.abs(safe.positions - before) <= DT * (np.abs(speed) + 0.4)).all()
        if step > 150:
            slowest = float(safe.velocities[1])
            assert not safe.stopped_by
            assert {"distance", "workspace"} <= set(safe.slowed_by)
    assert slowest > 0.02


def test_in_contact_the_joints_are_led_back_to_where_they_are() -> None:
    guard = SafetyFilter([ContactCheck(15.0)], [], ClearPathCheck(PointArm(), -1.0), LIMITS, PointArm(), DT)
    guard.restart(MIDDLE)
    held, pushes = MIDDLE.copy(), np.eye(7)[1] * 16.0
    for step in range(40):
        asked = guard.led + 0.02
        safe = guard.next(asked, held, pushes if step > 10 else np.zeros(7), 0.0)
        assert (np.abs(safe.velocities) <= LIMITS.velocity).all()
    assert np.abs(safe.positions - held).max() < 0.01
    assert (safe.stopped_by, safe.slowed_by) == ("contact", ("contact",))


def test_what_is_no_number_brakes() -> None:
    guard = SafetyFilter([], [], ClearPathCheck(PointArm(), -1.0), LIMITS, PointArm(), DT)
    guard.restart(MIDDLE)
    moving = guard.next(MIDDLE + 0.01, MIDDLE, np.zeros(7), 0.0)
    braking = guard.next(np.full(7, np.nan), MIDDLE, np.zeros(7), 0.0)
    assert braking.stopped_by == "finite"
    assert (np.abs(braking.velocities) < np.abs(moving.velocities)).all()


def test_a_robot_without_dynamic_limits_is_refused() -> None:
    where = r"franka_panda/robot\.yaml:\d+: joints\[0\]\.acceleration_limit: "
    with pytest.raises(ManifestError, match=where + "panda_joint1 has no acceleration_limit"):
        limits_of(load_robot("franka_panda"))


def test_the_narrower_limit_counts() -> None:
    wide: ArmLimits = replace(
        LIMITS, low=LIMITS.low - 1, high=LIMITS.high - 0.5, velocity=LIMITS.velocity / 2
    )
    both = FR3.within(wide)
    assert (both.low == FR3.low).all()
    assert (both.high == wide.high).all()
    assert (both.velocity == wide.velocity).all()
    assert (both.deceleration == DECELERATIONS).all()


def test_the_follower_goes_ways_that_just_reach_the_greatest_acceleration() -> None:
    # 2 a (a / j)² / 2 for the way to a and back: Ruckig 0.19 finds no profile for exactly that length.
    limits = replace(FR3, acceleration=np.full(7, 5.0), jerk=np.full(7, 50.0))
    follower = OnlineTrajectory(limits, 0.01)
    start = np.array([-0.3176, -1.1603, 0.0691, -1.7579, -0.0333, 0.9743, 1.5098])
    target = start + np.array([0.2, -0.1, 0.1, 0.1, 0.2, -0.1, 0.3])
    follower.restart(start)
    follower.lead(target, np.zeros(7), 1.0)
    for _ in range(150):
        positions, _ = follower.cycle()
    assert np.allclose(positions, target)
