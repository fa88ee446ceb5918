"""The jerk-limited motion from targets that come now and then: how fast it may be, and that it ends by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from openral_control.safety.joint_limits import limits_of
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_core.robot import load_robot

FR3 = limits_of(load_robot("fr3"))
SLOWING = replace(FR3, velocity_offset=np.full(7, 0.1), deceleration=np.full(7, 3.0))
"""Limits under which the speed towards an end of a joint's range depends on its distance."""
MIDDLE = (FR3.low + FR3.high) / 2.0
CYCLE_S = 0.002
NEAR_RAD = 0.25
"""[rad] from the end of the range, where the allowed speed towards it is below every joint's limit."""
STILL_RAD_S = 1e-6


def follower(limits=FR3) -> OnlineTrajectory:
    return OnlineTrajectory(limits, CYCLE_S)


@pytest.mark.parametrize("end", [1.0, -1.0], ids=["upper", "lower"])
def test_joints_are_slow_towards_an_end_of_their_range_and_quick_away_from_it(end: float) -> None:
    ends = FR3.high if end > 0 else FR3.low
    near = ends - end * NEAR_RAD
    allowed = SLOWING.speeds_towards(np.full(7, end), near)
    assert (allowed < FR3.velocity).all()
    fastest = []
    for start, target in ((near - end * 0.5, near), (near, near - end * 0.5)):
        moving = follower(SLOWING)
        moving.restart(start)
        moving.lead(target, np.zeros(7), 0.0)
        way = [moving.cycle() for _ in range(round(3.0 / CYCLE_S))]
        assert np.allclose(way[-1][0], target)
        fastest.append(np.abs([velocities for _, velocities in way]).max(axis=0))
    towards, away = fastest
    assert (towards <= allowed + 1e-6).all()
    assert (away > 1.2 * towards).all()


def test_joints_that_pass_a_target_come_to_rest_beyond_it_if_no_other_comes() -> None:
    passing, target = follower(), MIDDLE + 0.1
    passing.restart(MIDDLE)
    passing.lead(target, np.full(7, 0.3), 0.5)
    speeds = [passing.cycle()[1] for _ in range(round(0.5 / CYCLE_S) + 5)]
    assert np.abs(speeds[-1]).min() > 0.1
    assert not passing.at_rest
    for _ in range(round(1.0 / CYCLE_S)):
        positions, velocities = passing.cycle()
    assert np.abs(velocities).max() < STILL_RAD_S
    assert passing.at_rest
    assert (positions > target).all()
    assert (positions < target + 0.2).all()


def test_joints_that_are_led_on_after_a_stop_are_not_at_rest() -> None:
    moving = follower()
    moving.restart(MIDDLE)
    assert moving.at_rest
    moving.lead(MIDDLE + 0.1, np.zeros(7), 0.5)
    assert not moving.at_rest
