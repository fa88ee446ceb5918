from __future__ import annotations

import numpy as np
import pytest

from openral_reward_monitor.window import Attempt, FrameWindow


def frame(value: int) -> np.ndarray:
    return np.full((2, 2, 3), value, np.uint8)


def filled(seconds: float, *, fps: float = 4.0, window_s: float = 20.0, max_scored: int = 8) -> FrameWindow:
    """A window that was fed at 20 Hz."""
    window = FrameWindow(window_s, fps, max_scored)
    window.begin(Attempt("g", "open the drawer"))
    for index in range(round(seconds * 20) + 1):
        window.add(index * 0.05, frame(index % 256))
    return window


def test_frames_are_kept_at_the_target_rate():
    window = filled(5.0)
    assert len(window) == 21
    assert window.newest_s == pytest.approx(5.0)


def test_rate_that_does_not_divide_the_cameras_is_never_exceeded():
    window = filled(9.0, fps=3.0)
    stamps = window.select().stamps_s
    assert len(window) <= 9 * 3 + 1
    assert np.diff(stamps).min() > 0.3


def test_old_frames_leave_the_window():
    window = filled(60.0, window_s=10.0)
    selection = window.select()
    assert selection.frames_seen == 41
    assert selection.stamps_s[0] == pytest.approx(50.0)


@pytest.mark.parametrize("seconds", [0.0, 0.25, 1.0, 1.75, 2.0, 5.0, 19.9])
@pytest.mark.parametrize("max_scored", [2, 5, 8])
def test_choice_is_even_and_ends_with_the_newest(seconds, max_scored):
    window = filled(seconds, max_scored=max_scored)
    selection = window.select()
    assert len(selection.stamps_s) == min(len(window), max_scored) == len(selection.frames)
    assert selection.stamps_s[-1] == window.newest_s
    assert selection.frames_seen == len(window)
    steps = np.diff(selection.stamps_s)
    assert (steps > 0).all()
    assert steps.size == 0 or steps.max() - steps.min() <= 0.25 + 1e-9


def test_look_back_counts_from_the_newest_frame():
    selection = filled(10.0).select(window_s=1.0)
    assert selection.frames_seen == 5
    assert selection.stamps_s[0] == pytest.approx(9.0)


def test_new_attempt_begins_with_the_last_frame_before_it():
    window = filled(5.0)
    window.add(5.05, frame(200))
    window.begin(Attempt("h", "close the drawer"))
    selection = window.select()
    assert selection.attempt.goal_id == "h"
    assert selection.frames_seen == 1
    assert selection.frames[0, 0, 0, 0] == 200


def test_frames_before_any_attempt_and_out_of_order_are_dropped():
    window = FrameWindow(10.0, 4.0)
    assert not window.add(1.0, frame(1))
    assert window.select() is None
    window.begin(Attempt("g", "x"))
    assert window.add(2.0, frame(2))
    assert not window.add(1.5, frame(3))
    assert not window.add(2.0, frame(4))
    assert window.select().stamps_s.tolist() == [1.0, 2.0]
