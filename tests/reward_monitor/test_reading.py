from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from openral_core.manifest import Reward
from openral_core.progress_judgement import slope_per_second
from openral_reward_monitor.models.calibration import Calibration, CameraCalibration
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.reading import ReadingMaker
from openral_reward_monitor.window import Selection, WatchedGoal

CONFIG = Reward(
    frame_window_s=20.0, target_fps=4.0, success_threshold=0.8, plateau_window_s=2.0, plateau_tolerance=0.05
)

CALIBRATION = Calibration(
    skill="tests/rskill-fake-progress",
    weights_sha256=None,
    cameras={
        "corner2": CameraCalibration(
            scores=(0.0, 0.5, 0.7, 1.0),
            probabilities=(0.0, 0.1, 0.9, 1.0),
            yes_from=0.6,
            no_below=0.5,
            error_rate=0.02,
            rollouts_done=100,
            rollouts_not_done=100,
            recipe="none",
            init_ids=(1, 2),
        )
    },
)


def reading(
    maker: ReadingMaker,
    stamp_s: float,
    progress: float,
    success: float = 0.0,
    goal: str = "g",
    task: str = "x",
    watched: bool | None = None,
    **selected: Any,
):
    stamps = np.array([stamp_s - 0.5, stamp_s])
    selection = Selection(WatchedGoal(goal, "x"), stamps, np.zeros((2, 2, 2, 3), np.uint8), 9, **selected)
    scores = RewardScores(np.array([0.0, progress], np.float32), np.array([0.0, success], np.float32))
    return maker.make(selection, task, scores, 0.02, watched=task == "x" if watched is None else watched)


@pytest.mark.parametrize("rate", [2.0, 3.0, 20.0])
def test_slope_is_per_second_whatever_the_frame_rate(rate):
    stamps = np.arange(0.0, 4.0, 1.0 / rate)
    assert slope_per_second(stamps, (0.1 + 0.2 * stamps).astype(np.float32)) == pytest.approx(0.2, abs=1e-6)


def test_slope_over_uneven_stamps_is_the_least_squares_one():
    rng = np.random.default_rng(1)
    stamps, values = np.sort(rng.uniform(100, 140, 8)), rng.uniform(0, 1, 8).astype(np.float32)
    assert slope_per_second(stamps, values) == pytest.approx(np.polyfit(stamps, values, 1)[0], abs=1e-6)
    assert slope_per_second(stamps[:1], values[:1]) == 0.0


def test_reading_is_that_of_the_newest_frame():
    now = reading(ReadingMaker(CONFIG), 3.0, 0.4, 0.3)
    assert (now.stamp_s, now.frames_seen, now.frames_scored) == (3.0, 9, 2)
    assert now.progress == pytest.approx(0.4)
    assert now.progress_trend == pytest.approx(0.8)
    assert not now.succeeded
    assert not now.stalled


def test_success_needs_both_heads():
    maker = ReadingMaker(CONFIG)
    assert not reading(maker, 1.0, 0.95, 0.79).succeeded
    assert not reading(maker, 2.0, 0.5, 0.85).succeeded
    assert [reading(maker, 3.0 + 0.3 * i, 0.85, 0.85).succeeded for i in range(3)] == [False, False, True]


def test_words_that_nobody_watches_for_are_judged_by_one_reading():
    maker = ReadingMaker(CONFIG)
    assert reading(maker, 1.0, 0.85, 0.85, task="something else").succeeded
    assert not reading(maker, 2.0, 0.85, 0.7, task="something else").succeeded


def test_a_picture_that_is_asked_for_again_counts_once_towards_a_success():
    maker = ReadingMaker(CONFIG)
    assert not any(reading(maker, 3.0 + 0.3 * i, 0.85, 0.85).succeeded for i in range(2))
    assert not any(reading(maker, 3.3, 0.85, 0.85, watched=False).succeeded for _ in range(3))
    assert reading(maker, 3.6, 0.85, 0.85, watched=False).succeeded


def test_at_the_bounds_of_a_calibration_it_is_uncertain_below_and_done_above():
    camera = CALIBRATION.cameras["corner2"].model_copy(update={"yes_from": 0.75, "no_below": 0.5})
    said = [camera.is_done(score, 0.8) for score in (0.49, 0.5, 0.74, 0.75)]
    assert said == [False, None, None, True]


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"probabilities": (0.0, 0.1, 1.0)}, "3 for 4 scores"),
        ({"scores": (0.0, 0.5, 0.5, 1.0)}, "do not rise"),
        ({"probabilities": (0.0, 0.2, 0.1, 1.0)}, "fall somewhere"),
    ],
)
def test_a_calibration_that_is_no_rising_curve_is_refused(changed, fault):
    values = CALIBRATION.cameras["corner2"].model_dump() | changed
    with pytest.raises(ValidationError, match=fault):
        CameraCalibration.model_validate(values)


def test_calibrated_success_is_the_probability_of_the_lesser_head():
    maker = ReadingMaker(CONFIG, CALIBRATION)
    now = [reading(maker, 1.0 + 0.3 * i, 0.7, 0.9, camera="corner2") for i in range(3)][-1]
    assert now.calibrated
    assert now.success == pytest.approx(0.9)
    assert now.progress == pytest.approx(0.7)
    assert now.succeeded
    assert not now.abstained


@pytest.mark.parametrize(
    ("selected", "success", "remark"),
    [
        (
            {"camera": "corner2"},
            0.55,
            "the score 0.55 is seen of tasks that are done and of such that are not",
        ),
        ({"camera": "wrist"}, 1.0, "not calibrated for camera wrist, but for corner2"),
        ({"camera": "corner2", "dark": True}, 1.0, "camera corner2 is too dark"),
        ({"camera": "corner2", "frozen": True}, 1.0, "camera corner2 is frozen"),
    ],
)
def test_what_cannot_be_told_is_neither_a_success_nor_a_stall(selected, success, remark):
    maker = ReadingMaker(CONFIG, CALIBRATION)
    now = [reading(maker, 0.5 * index, 1.0, success, **selected) for index in range(10)][-1]
    assert now.abstained
    assert remark in now.remark
    assert not now.succeeded
    assert not now.stalled


def test_readings_of_a_dark_picture_leave_no_trace_in_the_plateau():
    maker = ReadingMaker(CONFIG)
    for index in range(10):
        reading(maker, 0.5 * index, 0.3, dark=True)
    assert not reading(maker, 5.0, 0.3).stalled


def test_a_look_back_has_the_trend_of_its_window():
    stamps, values = np.arange(5.0), np.array([0.0, 0.0, 0.0, 0.4, 0.8], np.float32)
    selection = Selection(WatchedGoal("g", "x"), stamps, np.zeros((5, 2, 2, 3), np.uint8), 5)
    now = ReadingMaker(CONFIG).make(selection, "x", RewardScores(values, values), 0.02)
    assert now.over(2.0).progress_trend == pytest.approx(0.4)
    assert now.over(2.0).frames_scored == 3
    assert now.over(0.0) is now
    assert now.progress_trend == pytest.approx(np.polyfit(stamps, values, 1)[0])


def test_flat_progress_stalls_after_the_plateau_window_and_not_before():
    maker = ReadingMaker(CONFIG)
    stalled = [reading(maker, 0.5 * index, 0.3 + 0.01 * (index % 2)).stalled for index in range(10)]
    assert stalled == [False] * 4 + [True] * 6


@pytest.mark.parametrize("period_s", [0.35, 0.7, 5.0])
def test_flat_progress_stalls_at_any_rate_of_readings(period_s):
    maker = ReadingMaker(CONFIG)
    stalled = [reading(maker, period_s * index, 0.3).stalled for index in range(12)]
    assert stalled.index(True) == max(2, np.ceil(0.9 * 2.0 / period_s))
    assert all(stalled[stalled.index(True) :])


def test_rising_progress_never_stalls():
    maker = ReadingMaker(CONFIG)
    assert not any(reading(maker, 0.5 * index, 0.05 * index).stalled for index in range(20))


def test_a_clock_that_begins_again_begins_the_plateau_again():
    maker = ReadingMaker(CONFIG)
    assert reading(maker, 1000.0, 0.3).progress == pytest.approx(0.3)
    stalled = [reading(maker, 0.5 * index, 0.3).stalled for index in range(1, 8)]
    assert stalled == [False] * 4 + [True] * 3


def test_success_is_not_a_stall_and_a_new_attempt_starts_afresh():
    maker = ReadingMaker(CONFIG)
    assert not any(reading(maker, 0.5 * index, 0.9, 0.9).stalled for index in range(10))
    assert not reading(maker, 5.0, 0.9, 0.1, goal="h").stalled


def test_falling_progress_is_a_standstill_too():
    maker = ReadingMaker(CONFIG)
    assert [reading(maker, 0.5 * index, 0.6 - 0.05 * index).stalled for index in range(10)][-1]


def test_queries_for_other_words_leave_no_trace():
    maker = ReadingMaker(CONFIG)
    for index in range(10):
        reading(maker, 0.5 * index, 0.1 * (index % 2), task="something else")
    assert not reading(maker, 5.0, 0.3).stalled


@pytest.mark.parametrize("asked_s", [2.5, 60.0, 0.5], ids=["at once", "later", "after a restart"])
def test_an_attempt_that_was_done_is_not_done_in_a_world_that_was_reset(asked_s):
    maker = ReadingMaker(CONFIG)
    for stamp_s in (1.0, 1.5, 2.0):
        done = reading(maker, stamp_s, 0.9, 0.9)
    assert done.succeeded
    asked = reading(maker, asked_s, 0.1, 0.1, watched=False)
    assert not asked.succeeded
    assert not asked.stalled


def test_an_attempt_that_ended_is_judged_by_what_is_seen_later():
    maker = ReadingMaker(CONFIG)
    for stamp_s in np.arange(0.0, 8.0, 0.5):
        stalled = reading(maker, float(stamp_s), 0.3, 0.1).stalled
    assert stalled
    asked = reading(maker, 60.0, 0.9, 0.9, watched=False)
    assert asked.succeeded
    assert not asked.stalled
