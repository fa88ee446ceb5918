from __future__ import annotations

import numpy as np
import pytest

from openral_reward_monitor.window import IDLE, MOST_FRAMES, FrameWindow, WatchedGoal

CAMERA_S = 0.05


def frame(value: int) -> np.ndarray:
    return np.full((2, 2, 3), value, np.uint8)


def feed(window: FrameWindow, begin_s: float, end_s: float) -> None:
    """Show a window frames at 20 Hz, both ends included."""
    for index in range(round(begin_s / CAMERA_S), round(end_s / CAMERA_S) + 1):
        window.add(index * CAMERA_S, frame(index % 256))


def filled(seconds: float, *, fps: float = 4.0, window_s: float = 20.0, max_scored: int = 8) -> FrameWindow:
    """A window in an attempt that was fed from its begin at 0."""
    window = FrameWindow(window_s, fps, max_scored)
    window.begin(WatchedGoal("g", "open the drawer"))
    feed(window, 0.0, seconds)
    return window


def test_frames_are_kept_at_the_target_rate():
    window = filled(5.0)
    assert len(window) == 21
    assert window.newest_s == pytest.approx(5.0)


def test_rate_that_does_not_divide_the_cameras_is_never_exceeded():
    window = filled(9.0, fps=3.0)
    stamps = window.select().stamps_s
    assert len(window) <= 9 * 3 + 1
    assert np.diff(stamps)[:-1].min() > 0.3


@pytest.mark.parametrize("seconds", [10.5, 60.0, 300.0])
def test_a_long_attempt_keeps_its_first_frame_and_a_bounded_number_evenly_spread(seconds):
    window = filled(seconds, window_s=10.0, max_scored=1000)
    assert len(window) <= 41
    stamps = window.select().stamps_s
    assert stamps[0] == 0.0
    assert stamps[-1] == pytest.approx(seconds)
    steps = np.diff(stamps)[:-1]
    assert steps.max() - steps.min() <= CAMERA_S + 1e-9
    assert steps.max() <= 2 * seconds / 20


def test_without_an_attempt_only_the_last_seconds_are_kept():
    window = FrameWindow(10.0, 4.0)
    assert window.select() is None
    feed(window, 0.0, 60.0)
    selection = window.select()
    assert selection.attempt is IDLE
    assert selection.frames_seen == 41
    assert selection.stamps_s[0] == pytest.approx(50.0)


@pytest.mark.parametrize("window_s", [8000.0, 1e308], ids=["milliseconds", "for ever"])
def test_however_long_a_manifests_window_is_a_bounded_number_of_frames_is_kept(window_s):
    idle = FrameWindow(window_s, 20.0)
    feed(idle, 0.0, 120.0)
    assert len(idle) == MOST_FRAMES
    assert idle.select().stamps_s[0] > 90.0
    running = filled(120.0, fps=20.0, window_s=window_s)
    assert len(running) <= MOST_FRAMES
    assert running.select().stamps_s[0] == 0.0


def test_an_attempt_that_is_over_leaves_the_window_and_stays_its_name():
    window = filled(60.0, window_s=10.0)
    window.end()
    feed(window, 60.05, 75.0)
    selection = window.select()
    assert selection.attempt.goal_id == "g"
    assert not window.running
    assert 65.0 - 1e-9 <= selection.stamps_s[0] <= 65.25
    assert 40 <= selection.frames_seen <= 42


@pytest.mark.parametrize("seconds", [0.0, 0.25, 1.0, 1.75, 2.0, 5.0, 19.9])
@pytest.mark.parametrize("max_scored", [2, 5, 8])
def test_choice_is_even_and_ends_with_the_newest(seconds, max_scored):
    window = filled(seconds, max_scored=max_scored)
    selection = window.select()
    assert len(selection.stamps_s) == min(selection.frames_seen, max_scored) == len(selection.frames)
    assert selection.stamps_s[-1] == window.newest_s
    steps = np.diff(selection.stamps_s)
    assert (steps > 0).all()
    assert steps.size == 0 or steps.max() - steps.min() <= 0.5


def test_look_back_counts_from_the_newest_frame():
    selection = filled(10.0).select(window_s=1.0)
    assert selection.frames_seen == 5
    assert selection.stamps_s[0] == pytest.approx(9.0)


def test_new_attempt_begins_with_the_last_frame_before_it():
    window = filled(5.0)
    window.add(5.05, frame(200))
    window.begin(WatchedGoal("h", "close the drawer"))
    selection = window.select()
    assert selection.attempt.goal_id == "h"
    assert selection.frames_seen == 1
    assert selection.frames[0, 0, 0, 0] == 200


def test_a_new_attempt_has_the_full_rate_again():
    window = filled(60.0, window_s=10.0)
    window.begin(WatchedGoal("h", "close the drawer"))
    feed(window, 60.05, 65.0)
    assert len(window) == 21


def test_frames_out_of_order_are_dropped():
    window = FrameWindow(10.0, 4.0)
    window.begin(WatchedGoal("g", "x"))
    assert window.add(2.0, frame(2))
    assert not window.add(1.5, frame(3))
    assert not window.add(2.0, frame(4))
    assert window.select().stamps_s.tolist() == [2.0]
