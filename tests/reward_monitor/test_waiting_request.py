"""A request that waits for the model while the monitor is shut down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from openral_core.manifest import Reward
from openral_reward_monitor.cameras import Cameras
from openral_reward_monitor.models.fake import FakeRewardModel, FakeRewardScript
from openral_reward_monitor.query_request import parse_query
from openral_reward_monitor.reading import ReadingMaker
from openral_reward_monitor.ros.progress_service import ProgressService
from openral_reward_monitor.scorer import Scorer
from openral_reward_monitor.window import WatchedGoal


def test_it_is_answered_with_the_reason(make_reward: Callable) -> None:
    reward: Reward = make_reward().manifest.reward
    cameras = Cameras(["front"], reward, 8, 3.0)
    cameras.begin(WatchedGoal("aa", "open the drawer"))
    cameras.add("front", 1.0, np.full((8, 8, 3), 100, np.uint8), time.monotonic())
    model = FakeRewardModel(FakeRewardScript(behaviour="hang"))
    scorer = Scorer(model, ReadingMaker(reward), lambda job: None)
    service = ProgressService(cameras, scorer, needs_words=True, patience_s=600.0, stale_after_s=3.0)
    response = SimpleNamespace()
    waiting = service.answer(parse_query(0.0, "", "", fresh=True), response, lambda: 1.0)
    waiting.send(None)
    assert not scorer.close(0.0)
    service.close()
    with pytest.raises(StopIteration):
        waiting.send(None)
    assert (response.ok, response.message) == (False, "the reward monitor was shut down")
    model.released.set()


def test_its_age_is_that_at_the_answer(make_reward: Callable) -> None:
    reward: Reward = make_reward().manifest.reward
    cameras, scored, now_s = Cameras(["front"], reward, 8, 3.0), threading.Event(), [10.0]
    cameras.begin(WatchedGoal("aa", "open the drawer"))
    cameras.add("front", 10.0, np.full((8, 8, 3), 100, np.uint8), time.monotonic())
    scorer = Scorer(FakeRewardModel(), ReadingMaker(reward), lambda job: scored.set())
    service = ProgressService(cameras, scorer, needs_words=True, patience_s=600.0, stale_after_s=3.0)
    response = SimpleNamespace()
    waiting = service.answer(parse_query(0.0, "", "", fresh=True), response, lambda: now_s[0])
    waiting.send(None)
    assert scored.wait(60.0)
    now_s[0] = 14.0
    service.look()
    with pytest.raises(StopIteration):
        waiting.send(None)
    scorer.close()
    assert (response.age_s, response.stale) == (4.0, True)


def test_a_reading_from_before_a_restart_of_the_bridge_answers_nothing(make_reward: Callable) -> None:
    reward: Reward = make_reward().manifest.reward
    cameras, scored = Cameras(["front"], reward, 8, 3.0), threading.Event()
    scorer = Scorer(FakeRewardModel(), ReadingMaker(reward), lambda job: scored.set())
    service = ProgressService(cameras, scorer, needs_words=True, patience_s=600.0, stale_after_s=3.0)

    def shown(stamp_s: float, value: int) -> None:
        cameras.forget_future("front", stamp_s)
        cameras.add("front", stamp_s, np.full((8, 8, 3), value, np.uint8), time.monotonic())

    shown(60.0, 255)
    cameras.begin(WatchedGoal("aa", "open the drawer"), 60.0)
    selection = cameras.by_name["front"].select()
    assert selection is not None
    scorer.watch(selection)
    assert scored.wait(60.0)
    scored.clear()
    cameras.end()
    shown(0.1, 51)
    response = SimpleNamespace()
    waiting = service.answer(parse_query(0.0, "", "", fresh=False), response, lambda: 0.1)
    waiting.send(None)  # it waits for a scoring of the new world
    assert scored.wait(60.0)
    service.look()
    with pytest.raises(StopIteration):
        waiting.send(None)
    scorer.close()
    assert (response.ok, response.stale, response.succeeded) == (True, False, False)
    assert response.progress_now == pytest.approx(0.2)
