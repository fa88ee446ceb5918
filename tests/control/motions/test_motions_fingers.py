"""Fingers that do not do what they are told are no success."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from openral_control.motions import MotionArm, MotionEnd, make_motion
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState

SCENE = load_scene("fr3_tabletop")
ARM = MotionArm.of(SCENE, load_robot(SCENE.robot_id))
HAND, DOWN = np.array([0.5, 0.0, 0.2]), np.array([1.0, 0.0, 0.0, 0.0])


def end_of(fingers: str, opening_at: Callable[[float], float]) -> tuple[MotionEnd, float]:
    """Return how a motion of the fingers ends, and when [s], whose opening [m] is a function of time [s]."""
    motion = make_motion("set_gripper", {"fingers": fingers}, ARM)
    for step in range(1000):
        stamp_s = step * SCENE.dt
        answer = motion.advance(RobotState(stamp_s, (), np.zeros(0), HAND, DOWN, opening_at(stamp_s)))
        if isinstance(answer, MotionEnd):
            return answer, stamp_s
    raise AssertionError("the motion does not end")


@pytest.mark.parametrize(
    ("fingers", "opening_m", "words"),
    [
        ("closed", 0.08, "the fingers are 8.0 cm apart and did not close"),
        ("open", 0.0, "the fingers are 0.0 cm apart and did not open"),
        ("open", 0.033, "the fingers are 3.3 cm apart and did not open"),
    ],
)
def test_fingers_that_do_not_move_fail(fingers: str, opening_m: float, words: str) -> None:
    end, _ = end_of(fingers, lambda _: opening_m)
    assert (end.succeeded, end.message) == (False, words)


@pytest.mark.parametrize(("fingers", "opening_m"), [("closed", 0.0), ("closed", 0.033), ("open", 0.08)])
def test_fingers_that_are_where_they_shall_be_need_not_move(fingers: str, opening_m: float) -> None:
    end, after_s = end_of(fingers, lambda _: opening_m)
    assert end.succeeded
    assert after_s < 1.0


@pytest.mark.parametrize(
    ("fingers", "opening_at", "reached"),
    [
        ("open", lambda t: min(0.08, max(0.0, 0.1 * (t - 1.0))), "8.0 cm"),
        ("closed", lambda t: max(0.0, 0.08 - max(0.0, 0.1 * (t - 1.0))), "0.0 cm"),
        ("closed", lambda t: max(0.05, 0.08 - max(0.0, 0.1 * (t - 1.0))), "5.0 cm"),
        ("open", lambda t: min(0.06, max(0.0, 0.1 * (t - 1.0))), "6.0 cm"),
        (
            "open",
            lambda t: max(0.02, 0.04 - 0.1 * t) if t < 1.0 else min(0.08, 0.02 + 0.1 * (t - 1.0)),
            "8.0 cm",
        ),
    ],
)
def test_fingers_that_begin_late_are_waited_for(
    fingers: str, opening_at: Callable[[float], float], reached: str
) -> None:
    end, _ = end_of(fingers, opening_at)
    assert end.succeeded
    assert reached in end.message


@pytest.mark.parametrize(
    ("open_m", "opening_m", "keeps"),
    [
        (0.08, 0.055, True),
        (0.08, 0.065, False),
        (0.0417, 0.025, True),  # of a Sawyer's electric gripper, whose fingers move by 4.2 cm
        (0.0417, 0.04, False),
        (0.018, 0.006, True),
        (0.018, 0.017, False),
    ],
)
def test_small_grippers_too_keep_what_they_hold(open_m: float, opening_m: float, keeps: bool) -> None:
    motion = make_motion("place_at", {"point": [0.5, 0.1, 0.1]}, replace(ARM, open_m=open_m))
    actions = motion.advance(RobotState(0.0, (), np.zeros(0), HAND, DOWN, opening_m))
    assert not isinstance(actions, MotionEnd)
    assert actions[0, -1] == (ARM.high if keeps else ARM.low)[-1]
