"""A bridge that is restarted, whose clock begins at 0 again, and a camera that was away before an attempt."""

from __future__ import annotations

import numpy as np
import pytest
from reward_manifest import REWARD

from openral_core.manifest import Reward
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.window import WatchedGoal

PICTURES = np.random.default_rng(0).integers(0, 255, (64, 16, 16, 3), np.uint8)


def fed(cameras: Cameras, *stamps_s: float) -> list[bool]:
    return [
        cameras.add("corner2", stamp_s, PICTURES[number], stamp_s) for number, stamp_s in enumerate(stamps_s)
    ]


def test_pictures_of_a_bridge_that_was_restarted_are_taken_at_once() -> None:
    """Its clock may have run for a few seconds only, so that the old frames are not ahead of it by much."""
    cameras = Cameras(["corner2"], Reward(**REWARD), 8, 3.0)
    assert all(fed(cameras, *np.arange(0.0, 6.0, 0.25)))
    cameras.forget_future("corner2", 0.5)
    assert all(fed(cameras, 0.25, 0.5, 0.75))
    selection = cameras.by_name["corner2"].select()
    assert selection is not None
    assert selection.stamps_s.tolist() == [0.25, 0.5, 0.75]


def test_a_picture_out_of_order_is_dropped_alone() -> None:
    cameras = Cameras(["corner2"], Reward(**REWARD), 8, 3.0)
    assert fed(cameras, 5.0, 5.5, 4.75, 6.0) == [True, True, False, True]
    selection = cameras.by_name["corner2"].select()
    assert selection is not None
    assert selection.stamps_s.tolist() == [5.0, 5.5, 6.0]


@pytest.mark.parametrize(("begun_s", "first_s"), [(4.1, 4.0), (64.0, 64.25)])
def test_an_attempt_begins_with_no_frame_from_long_before_it(begun_s: float, first_s: float) -> None:
    """Later frames are compared with its first one; a camera that was away shows another world before."""
    cameras = Cameras(["corner2"], Reward(**REWARD), 8, 3.0)
    fed(cameras, *np.arange(0.25, 4.25, 0.25))
    cameras.begin(WatchedGoal("aa", "open the drawer"), begun_s)
    fed(cameras, *np.arange(begun_s, begun_s + 2.0, 0.25)[1:])
    selection = cameras.by_name["corner2"].select()
    assert selection is not None
    assert selection.stamps_s[0] == pytest.approx(first_s)
