from __future__ import annotations

import math

import numpy as np
import pytest

from openral_core.errors import ContractError
from openral_core.image_message import MAX_AHEAD_S, parse_stamp
from openral_core.message_field_checks import MAX_INSTRUCTION
from openral_reward_monitor.message_checks import (
    MAX_JOINTS,
    MAX_SIDE,
    camera_of_size,
    parse_joints,
    parse_status,
)
from openral_reward_monitor.window import WatchedGoal


def test_a_status_speaks_of_an_attempt_or_of_none():
    assert parse_status("a1", "open the drawer") == WatchedGoal("a1", "open the drawer")
    longest = "x" * MAX_INSTRUCTION
    assert parse_status("a1", longest) == WatchedGoal("a1", longest), "which a policy node takes"
    assert parse_status("", "x" * 10_000_000) is None, "of no attempt, whatever its words"
    for goal, words in (("no goal", "x"), ("a1", "x" * (MAX_INSTRUCTION + 1)), ("a1", "a\x00b")):
        with pytest.raises(ContractError, match=r"active_goal is|instruction h"):
            parse_status(goal, words)


def test_positions_are_finite_and_have_a_name_each():
    wanted = parse_joints(["a", "b"], [1.0, 2.0])
    assert wanted is not None
    assert np.array_equal(wanted, [1.0, 2.0])
    assert parse_joints(["a"], []) is None, "a message of velocities alone"
    for names, positions, why in (
        (["a"], [1.0, 2.0], "1 names and 2 positions"),
        ([], [1.0], "0 names and 1 positions"),
        (["a", "b"], [1.0, math.nan], "position 1 is nan"),
        (["a"], [-math.inf], "position 0 is -inf"),
        ([""] * 10**6, [0.0] * 10**6, f"send at most {MAX_JOINTS}"),
    ):
        with pytest.raises(ContractError, match=why):
            parse_joints(names, positions)


def test_a_stamp_may_be_a_little_ahead_of_a_clock_that_runs():
    assert parse_stamp("front", 100, 0, now_s=100.0 - MAX_AHEAD_S) == 100.0
    assert parse_stamp("front", 100, 0, now_s=0.0) == 100.0, "the clock has not begun to run"
    assert parse_stamp("front", 1, 0, now_s=1e6) == 1.0, "the past is only old"
    with pytest.raises(
        ContractError, match=r"camera 'front': the stamp 100.0 s is 11.0 s ahead of the clock"
    ):
        parse_stamp("front", 100, 0, now_s=89.0)
    with pytest.raises(ContractError, match="camera 'front': the stamp is -1 s and 0 ns"):
        parse_stamp("front", -1, 0, now_s=0.0)


def test_a_picture_has_a_size():
    assert camera_of_size("front", MAX_SIDE, 1).width == MAX_SIDE
    for width, height in ((0, 1), (1, 0), (MAX_SIDE + 1, 1), (1, 2**32 - 1)):
        with pytest.raises(ContractError, match=f"camera 'front' sends {width}x{height}"):
            camera_of_size("front", width, height)
