"""What lies between a driver's targets and the positions that a Panda is sent each millisecond."""

from __future__ import annotations

import numpy as np
import pytest

from openral_control.safety.joint_limits import limits_of
from openral_core.robot import load_robot
from openral_robot_bridge.drivers.panda.setpoint_filter import CYCLE_S, SetpointFilter

LIMITS = limits_of(load_robot("panda"))
PERIOD_S = 0.004


def make_tracker() -> SetpointFilter:
    tracker = SetpointFilter(LIMITS.velocity, LIMITS.acceleration, LIMITS.jerk)
    tracker.begin(np.zeros(7))
    return tracker


def differences(positions: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return velocity, acceleration and jerk of positions that are a cycle apart."""
    velocity = np.diff(positions, axis=0, prepend=[np.zeros(7)] * 3) / CYCLE_S
    acceleration = np.diff(velocity, axis=0) / CYCLE_S
    return velocity, acceleration, np.diff(acceleration, axis=0) / CYCLE_S


def swing(now: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth way that begins at rest, and its velocity."""
    rates = 2 * np.pi * np.linspace(0.2, 0.5, 7)
    return 0.2 * (1 - np.cos(rates * now)), 0.2 * rates * np.sin(rates * now)


@pytest.mark.parametrize("late_s", [0.0, 0.0015])
def test_a_smooth_way_is_followed_though_its_targets_come_late(late_s: float) -> None:
    tracker, rng = make_tracker(), np.random.default_rng(5)
    told, due, sent, off = 0.0, 0.0, [], []
    target = swing(0.0)
    for cycle in range(4000):
        now = cycle * CYCLE_S
        if now >= due:
            told, target, due = now, swing(now), now + PERIOD_S + rng.uniform(0.0, late_s)
        positions = tracker.follow(target[0] + target[1] * (now - told), target[1]).copy()
        sent.append(positions)
        off.append(np.abs(positions - swing(now)[0]).max())
    _, acceleration, jerk = differences(sent)
    assert max(off) < 0.005
    assert (np.abs(acceleration).max(axis=0) < 0.6 * LIMITS.acceleration).all()
    assert (np.abs(jerk).max(axis=0) < LIMITS.jerk * (1 + 1e-6)).all()


def test_nothing_that_it_is_told_leads_beyond_the_limits() -> None:
    tracker, rng = make_tracker(), np.random.default_rng(7)
    sent = []
    for _ in range(300):
        target, velocity = rng.uniform(-0.5, 0.5, 7), rng.uniform(-3.0, 3.0, 7)
        for _ in range(rng.integers(1, 60)):
            sent.append(tracker.follow(target, velocity).copy())
    velocity, acceleration, jerk = differences(sent)
    assert (np.abs(velocity).max(axis=0) < LIMITS.velocity * 1.02).all()
    assert (np.abs(acceleration).max(axis=0) < LIMITS.acceleration * (1 + 1e-6)).all()
    assert (np.abs(jerk).max(axis=0) < LIMITS.jerk * (1 + 1e-6)).all()


def test_a_target_far_away_is_reached_without_passing_it_by_far() -> None:
    tracker, target = make_tracker(), np.full(7, 0.3)
    sent = [tracker.follow(target, np.zeros(7)).copy() for _ in range(2000)]
    assert np.abs(sent[-1] - target).max() < 1e-4
    assert max(positions.max() for positions in sent) < 0.31


def test_braking_from_full_speed_ends_at_rest_within_the_limits() -> None:
    tracker, sent = make_tracker(), []
    for cycle in range(600):
        sent.append(tracker.follow(LIMITS.velocity * cycle * CYCLE_S, LIMITS.velocity).copy())
    braked = 0
    while not tracker.is_still:
        sent.append(tracker.brake().copy())
        braked += 1
        assert braked < 1000
    velocity, acceleration, _ = differences(sent)
    assert np.abs(velocity[-1]).max() < 1e-3
    assert (np.abs(acceleration).max(axis=0) < LIMITS.acceleration * (1 + 1e-6)).all()
    assert braked * CYCLE_S < 0.45
