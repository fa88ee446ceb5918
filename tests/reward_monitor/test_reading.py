from __future__ import annotations

import numpy as np
import pytest

from openral_core.manifest import Reward
from openral_reward_monitor.models import RewardScores
from openral_reward_monitor.reading import ReadingMaker, slope_per_second
from openral_reward_monitor.window import Attempt, Selection

CONFIG = Reward(
    frame_window_s=20.0, target_fps=4.0, success_threshold=0.8, plateau_window_s=2.0, plateau_tolerance=0.05
)


def reading(
    maker: ReadingMaker,
    stamp_s: float,
    progress: float,
    success: float = 0.0,
    goal: str = "g",
    task: str = "x",
):
    stamps = np.array([stamp_s - 0.5, stamp_s])
    selection = Selection(Attempt(goal, "x"), stamps, np.zeros((2, 2, 2, 3), np.uint8), 9)
    scores = RewardScores(np.array([0.0, progress], np.float32), np.array([0.0, success], np.float32))
    return maker.make(selection, task, scores, 0.02)


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


def test_success_is_judged_by_the_success_head():
    maker = ReadingMaker(CONFIG)
    assert not reading(maker, 1.0, 0.95, 0.79).succeeded
    assert reading(maker, 2.0, 0.5, 0.8).succeeded


def test_flat_progress_stalls_after_the_plateau_window_and_not_before():
    maker = ReadingMaker(CONFIG)
    stalled = [reading(maker, 0.5 * index, 0.3 + 0.01 * (index % 2)).stalled for index in range(10)]
    assert stalled == [False] * 4 + [True] * 6


def test_rising_progress_never_stalls():
    maker = ReadingMaker(CONFIG)
    assert not any(reading(maker, 0.5 * index, 0.05 * index).stalled for index in range(20))


def test_success_is_not_a_stall_and_a_new_attempt_starts_afresh():
    maker = ReadingMaker(CONFIG)
    assert not any(reading(maker, 0.5 * index, 0.9, 0.9).stalled for index in range(10))
    assert not reading(maker, 5.0, 0.9, 0.1, goal="h").stalled


def test_queries_for_other_words_leave_no_trace():
    maker = ReadingMaker(CONFIG)
    for index in range(10):
        reading(maker, 0.5 * index, 0.1 * (index % 2), task="something else")
    assert not reading(maker, 5.0, 0.3).stalled
