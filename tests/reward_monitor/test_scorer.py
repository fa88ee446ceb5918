from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from openral_core.manifest import Reward
from openral_reward_monitor.camera_views import JointFrame
from openral_reward_monitor.models.fake import FakeRewardModel, FakeRewardScript
from openral_reward_monitor.reading import ReadingMaker
from openral_reward_monitor.scorer import Scorer, ScoringJob
from openral_reward_monitor.window import Selection, WatchedGoal

CONFIG = Reward(frame_window_s=20.0, target_fps=4.0)


def selection(stamp_s: float = 1.0, value: int = 51) -> Selection:
    frames = [JointFrame([np.full((4, 4, 3), value, np.uint8)]) for _ in range(3)]
    return Selection(WatchedGoal("g", "open the drawer"), np.array([0.0, 0.5, 1.0]) * stamp_s, frames, 3)


@pytest.fixture
def finished() -> queue.Queue[ScoringJob]:
    return queue.Queue()


@pytest.fixture
def make_scorer(finished) -> Iterator:
    made = []

    def make(behaviour: str = "brightness", max_queries: int = 8) -> tuple[Scorer, FakeRewardModel]:
        model = FakeRewardModel(FakeRewardScript(behaviour=behaviour))
        made.append((Scorer(model, ReadingMaker(CONFIG), finished.put, max_queries), model))
        return made[-1]

    yield make
    for scorer, model in made:
        model.released.set()
        assert scorer.close()


def test_watching_gives_readings(make_scorer, finished):
    scorer, model = make_scorer()
    scorer.watch(selection())
    job = finished.get(timeout=60)
    assert job.reading.progress == pytest.approx(0.2)
    assert model.calls == [(3, "open the drawer")]


def test_query_is_scored_against_its_own_words(make_scorer, finished):
    scorer, model = make_scorer()
    job = scorer.query(selection(), "close the drawer")
    assert finished.get(timeout=60) is job
    assert job.reading.task == "close the drawer"
    assert not job.watched
    assert model.calls == [(3, "close the drawer")]


@pytest.mark.parametrize(("behaviour", "text"), [("nan", "not finite"), ("raise", "told to fail")])
def test_failure_is_told_and_the_thread_lives_on(make_scorer, finished, behaviour, text):
    scorer, _ = make_scorer(behaviour)
    for _ in range(2):
        scorer.watch(selection())
        job = finished.get(timeout=60)
        assert job.reading is None
        assert text in job.error


def test_hanging_model_holds_up_nobody(make_scorer, finished):
    scorer, model = make_scorer("hang", max_queries=2)
    scorer.watch(selection(1.0))
    while not model.calls:
        threading.Event().wait(0.005)
    for stamp in (2.0, 3.0, 4.0):
        scorer.watch(selection(stamp))
    jobs = [scorer.query(selection(), "x") for _ in range(3)]
    assert jobs[2] is None
    assert scorer.busy_s() > 0.0
    model.released.set()
    done = [finished.get(timeout=60) for _ in range(4)]
    assert done[1:3] == jobs[:2]
    assert [job.selection.stamps_s[-1] for job in done if job.watched] == [1.0, 4.0]
    assert finished.empty()
