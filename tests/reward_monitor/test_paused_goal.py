"""A goal that waits while an operator has the arm: its frames stay, and its trend begins anew."""

from __future__ import annotations

import numpy as np
from reward_manifest import REWARD

from openral_core.manifest import Reward
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.reading import ReadingMaker
from openral_reward_monitor.window import WatchedGoal

CONFIG = Reward(**REWARD)
PICTURES = np.random.default_rng(0)


def stands_still(cameras: Cameras, maker: ReadingMaker, begin_s: float, end_s: float) -> bool:
    """Feed pictures at 4 Hz that all show the same progress, and return what the last reading says."""
    stalled = False
    for stamp_s in np.arange(begin_s, end_s, 0.25):
        picture = PICTURES.integers(0, 255, (16, 16, 3), np.uint8)  # two alike would be a frozen camera
        cameras.add("corner2", float(stamp_s), picture, float(stamp_s))
        selection = cameras.by_name["corner2"].select()
        if selection is not None:
            flat = np.full(len(selection.pictures), 0.3, np.float32)
            stalled = maker.make(
                selection, selection.attempt.instruction, RewardScores(flat, flat), 0.0
            ).stalled
    return stalled


def test_the_trend_begins_anew_when_the_arm_is_given_back_and_the_frames_stay() -> None:
    cameras, maker = Cameras(["corner2"], CONFIG, 8, 3.0), ReadingMaker(CONFIG)
    cameras.begin(WatchedGoal("a" * 32, "open the drawer"))
    assert stands_still(cameras, maker, 0.0, 3.0)
    cameras.pause(True)
    cameras.pause(False)
    goal = cameras.goal
    assert goal == WatchedGoal("a" * 32, "open the drawer", resumed=1)
    assert not stands_still(cameras, maker, 10.0, 11.5)
    selection = cameras.by_name["corner2"].select()
    assert selection is not None
    assert (selection.attempt, selection.stamps_s[0]) == (goal, 0.0)
    assert stands_still(cameras, maker, 11.5, 13.5)
