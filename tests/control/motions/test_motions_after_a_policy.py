"""Motions that begin where a policy left the arm: pressed on something, with fingers half open or closed on a thing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from openral_control.motions import MotionArm, MotionEnd, make_motion
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState

SCENE = load_scene("metaworld_button")
ARM = MotionArm.of(SCENE, load_robot(SCENE.robot_id))
DOWN = np.array([1.0, 0.0, 0.0, 0.0])
TABLE, START = 0.15, np.array([0.0, 0.6, 0.15])
THING, HALF = (ARM.closed_m + share * (ARM.open_m - ARM.closed_m) for share in (0.3, 0.6))
"""[m] between fingers that hold something, and between half-open ones."""


def moved(
    opening_at: Callable[[float], float], *, led_below_m: float = 0.0, speed_m_s: float = 0.25
) -> tuple[MotionEnd, float]:
    """Return how a way of 20 cm straight up ends, and when [s].

    Args:
        opening_at: [m] between the fingers at a time [s].
        led_below_m: [m] by which the hand's set point was led below the table that it stands on.
        speed_m_s: [m/s] of the motion.
    """
    target = START + np.array([0.0, 0.0, 0.2])
    motion = make_motion("move_to", {"position": target.tolist(), "speed_m_s": speed_m_s}, ARM)
    led = START - np.array([0.0, 0.0, led_below_m])
    for step in range(2000):
        hand, stamp_s = np.maximum(led, [-np.inf, -np.inf, TABLE]), step * SCENE.dt
        answer = motion.advance(RobotState(stamp_s, (), np.zeros(0), hand, DOWN, opening_at(stamp_s), led))
        if isinstance(answer, MotionEnd):
            return answer, stamp_s
        led = led + ARM.step_m * answer[0, :3]
    raise AssertionError("the motion does not end")


def test_a_set_point_that_a_policy_led_away_is_led_back_first() -> None:
    end, _ = moved(lambda _: ARM.open_m, led_below_m=0.12, speed_m_s=0.05)
    assert end.succeeded, end.message


def test_half_open_fingers_that_close_on_nothing_held_nothing() -> None:
    end, _ = moved(lambda t: max(ARM.closed_m, HALF - 0.25 * t))
    assert end.succeeded, end.message


def test_half_open_fingers_that_close_on_a_thing_hold_it() -> None:
    end, _ = moved(lambda t: max(THING, HALF - 0.25 * t))
    assert end.succeeded, end.message


@pytest.mark.parametrize(
    "opening_at",
    [
        lambda t: THING if t < 0.5 else ARM.closed_m,
        lambda t: THING if t < 0.5 else ARM.open_m,
        lambda t: min(ARM.open_m, THING + 0.25 * t),
        lambda t: max(THING, HALF - 0.25 * t) if t < 0.6 else ARM.closed_m,
    ],
    ids=["slips", "let go", "let go at once", "slips after they closed on it"],
)
def test_what_the_fingers_lose_ends_the_motion(opening_at: Callable[[float], float]) -> None:
    end, after_s = moved(opening_at)
    assert not end.succeeded
    assert "what they held is lost" in end.message
    assert after_s < 0.7
