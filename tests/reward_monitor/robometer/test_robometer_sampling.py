from __future__ import annotations

import numpy as np
import pytest

from openral_reward_monitor.models.robometer.sampling import chosen_frames, spread
from openral_reward_monitor.window import FrameWindow, WatchedGoal


@pytest.mark.parametrize("count", [9, 16, 31, 120, 1000])
def test_many_frames_are_thinned_out_evenly_from_the_first_to_the_last(count: int) -> None:
    chosen = chosen_frames(count)
    assert (len(chosen), chosen[0], chosen[-1]) == (8, 0, count - 1)
    gaps = np.diff(chosen)
    assert gaps.min() >= 1
    assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize("count", [1, 2, 8])
def test_few_frames_are_all_shown(count: int) -> None:
    assert chosen_frames(count).tolist() == list(range(count))


def test_the_nearest_frame_is_taken() -> None:
    # linspace(0, 9, 8) = 0, 1.29, 2.57, 3.86, 5.14, 6.43, 7.71, 9
    assert chosen_frames(10).tolist() == [0, 1, 3, 4, 5, 6, 8, 9]


def test_the_monitors_own_window_shows_what_the_model_would_choose() -> None:
    window = FrameWindow(frame_window_s=100.0, target_fps=10.0)
    window.begin(WatchedGoal("goal", "open the drawer"))
    for number in range(53):
        window.add(number * 0.1, np.full((2, 2, 3), number, np.uint8))
    selection = window.select()
    assert selection is not None
    assert selection.frames[:, 0, 0, 0].tolist() == chosen_frames(53).tolist()


def test_frames_in_between_get_interpolated_scores() -> None:
    values = spread(np.array([0.0, 0.4, 1.0], np.float32), np.array([0, 2, 4]), 5)
    np.testing.assert_allclose(values, [0.0, 0.2, 0.4, 0.7, 1.0], atol=1e-6)
    assert values.dtype == np.float32
