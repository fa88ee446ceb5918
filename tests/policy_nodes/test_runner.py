from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_policy_nodes.fake import load
from openral_policy_nodes.inference import Inference, PolicyChunk
from openral_policy_nodes.inference_thread import PolicyRunner
from openral_policy_nodes.latency import LatencyStatistics

FRAME_NS = 50_000_000
DT_NS = 12_500_000


@pytest.fixture
def chunks() -> queue.Queue[PolicyChunk]:
    return queue.Queue()


@pytest.fixture
def make_runner(make_skill, scene, chunks) -> Iterator:
    runners = []

    def make(manifest=None, **script):
        package = make_skill(manifest, **script)
        policy = load(package)
        replay = package.manifest.replay_steps * DT_NS
        runner = PolicyRunner(Inference(package.manifest, scene, policy), chunks.put, replay, DT_NS // 2)
        runners.append((runner, policy))
        return runner, policy

    yield make
    for runner, policy in runners:
        policy.close()
        assert runner.close()


def wait_for_error(runner: PolicyRunner, run) -> str:
    for _ in range(500):
        if runner.worker().error:
            return run.error
        threading.Event().wait(0.01)
    raise AssertionError("the runner reported no error")


def test_chunk_answers_the_observation(make_runner, sensors_at, chunks):
    runner, _ = make_runner(action=[0.5, 0.0, 0.0, 1.0])
    runner.start("ab12", "open the drawer")
    assert runner.offer(sensors_at(FRAME_NS))
    chunk = chunks.get(timeout=60)
    assert (chunk.goal_id, chunk.instruction, chunk.sequence, chunk.stamp_ns) == (
        "ab12",
        "open the drawer",
        0,
        FRAME_NS,
    )
    assert chunk.data.shape == (16, 4)
    assert chunk.latency_s > 0.0


def test_one_inference_for_each_goal_and_stamp(make_runner, sensors_at, chunks):
    runner, policy = make_runner()
    runner.start("one", "x")
    assert runner.offer(sensors_at(FRAME_NS))
    chunks.get(timeout=60)
    assert not runner.offer(sensors_at(FRAME_NS))
    runner.start("two", "x")
    assert runner.offer(sensors_at(FRAME_NS))
    assert chunks.get(timeout=60).goal_id == "two"
    assert policy.calls == 2


def test_observations_between_the_action_steps_are_left_out(make_runner, sensors_at, chunks):
    runner, _ = make_runner({"n_action_steps": 8})
    runner.start("goal", "x")
    runner.offer(sensors_at(FRAME_NS))
    chunks.get(timeout=60)
    assert not runner.offer(sensors_at(2 * FRAME_NS))
    assert runner.offer(sensors_at(3 * FRAME_NS))
    chunks.get(timeout=60)
    assert runner.offer(sensors_at(4 * FRAME_NS), every=True)


def test_without_a_goal_nothing_is_inferred(make_runner, sensors_at, chunks):
    runner, policy = make_runner()
    assert not runner.offer(sensors_at(FRAME_NS))
    runner.start("goal", "x")
    runner.stop()
    assert not runner.offer(sensors_at(FRAME_NS))
    assert policy.calls == 0


def test_while_the_policy_thinks_only_the_newest_observation_waits(make_runner, sensors_at, chunks):
    runner, policy = make_runner(behaviour="hang")
    runner.start("goal", "x")
    runner.offer(sensors_at(FRAME_NS))
    while policy.calls == 0:
        threading.Event().wait(0.005)
    for index in range(2, 6):
        runner.offer(sensors_at(index * FRAME_NS))
    assert runner.worker().busy_s > 0.0
    policy.close()
    assert chunks.get(timeout=60).stamp_ns == FRAME_NS
    assert chunks.get(timeout=60).stamp_ns == 5 * FRAME_NS


def test_answer_after_the_end_of_its_goal_is_thrown_away(make_runner, sensors_at, chunks):
    runner, policy = make_runner(behaviour="hang")
    runner.start("late", "x")
    runner.offer(sensors_at(FRAME_NS))
    while policy.calls == 0:
        threading.Event().wait(0.005)
    run = runner.start("next", "x")
    runner.offer(sensors_at(FRAME_NS))
    policy.close()
    assert chunks.get(timeout=60).goal_id == "next"
    assert chunks.empty()
    assert run.chunks == 1


def test_history_counts_control_steps_and_begins_anew_with_each_goal(make_runner, sensors_at, chunks):
    runner, policy = make_runner({"image_preprocessing": {"history": [-8, -4, 0]}, "n_action_steps": 8})
    shown: list = []
    predict = policy.predict
    policy.predict = lambda batch: (shown.append(batch), predict(batch))[1]

    def offer(step: int) -> bool:
        sensors = sensors_at(step * DT_NS)
        sensors.images["corner2"][:] = step
        return runner.offer(sensors)

    def seen() -> list[int]:
        chunks.get(timeout=60)
        [images] = shown[-1].images.values()
        return images[0, :, 0, 0, 0].tolist()

    runner.start("one", "x")
    assert offer(100)
    assert seen() == [100, 100, 100]
    assert not offer(104)  # not answered, but remembered
    assert offer(108)
    assert seen() == [100, 104, 108]
    runner.start("two", "x")
    assert offer(112)
    assert seen() == [112, 112, 112]
    assert policy.episodes == ["one", "two"]
    assert list(shown[-1].episodes) == ["two"]


def test_nan_passes_to_the_bridge_unchanged(make_runner, sensors_at, chunks):
    runner, _ = make_runner(behaviour="nan")
    runner.start("goal", "x")
    runner.offer(sensors_at(FRAME_NS))
    data = chunks.get(timeout=60).data
    assert np.isnan(data[0, 0])
    assert np.isfinite(data.ravel()[1:]).all()


@pytest.mark.parametrize(
    ("behaviour", "text"), [("wrong_shape", r"\(1, 16, 3\).*\(1, 16, 4\)"), ("raise", "told to fail")]
)
def test_failure_ends_the_work_for_the_goal(make_runner, sensors_at, chunks, behaviour, text):
    runner, _ = make_runner(behaviour=behaviour)
    run = runner.start("goal", "x")
    runner.offer(sensors_at(FRAME_NS))
    with pytest.raises(PolicyError, match=text):
        raise PolicyError(wait_for_error(runner, run))
    assert not runner.offer(sensors_at(2 * FRAME_NS))
    assert chunks.empty()


def test_latency_percentiles():
    statistics = LatencyStatistics(capacity=100)
    assert statistics.percentile(50) == 0.0
    for milliseconds in range(200):
        statistics.add(milliseconds / 1000)
    assert statistics.last == 0.199
    assert statistics.percentile(50) == pytest.approx(0.1495)
    assert statistics.percentile(95) == pytest.approx(0.19405)


def test_after_a_pause_the_policy_begins_anew_and_what_it_was_inferring_is_thrown_away(
    make_runner, sensors_at, chunks
):
    runner, _ = make_runner(behaviour="slow", delay_s=0.3)
    run = runner.start("one", "x")
    assert runner.offer(sensors_at(FRAME_NS))
    runner.pause()
    assert not runner.offer(sensors_at(2 * FRAME_NS))
    runner.go_on()
    assert runner.offer(sensors_at(3 * FRAME_NS))
    assert chunks.get(timeout=60).stamp_ns == 3 * FRAME_NS
    assert chunks.empty()
    assert (run.chunks, run.first_ns) == (1, 3 * FRAME_NS)


class _SlowToReset:
    """The policy of a skill whose first reset takes as long as the test wants."""

    def __init__(self, policy):
        self._policy, self.calls = policy, []
        self.resetting, self.may_go_on = threading.Event(), threading.Event()

    def reset(self, episodes):
        self.calls.append("reset")
        self.resetting.set()
        assert self.may_go_on.wait(60)
        self._policy.reset(episodes)

    def predict(self, batch):
        self.calls.append("chunk")
        return self._policy.predict(batch)

    def close(self):
        self._policy.close()


def test_a_reset_from_before_a_pause_is_none_for_what_follows_it(make_skill, scene, sensors_at, chunks):
    package = make_skill()
    policy = _SlowToReset(load(package))
    runner = PolicyRunner(Inference(package.manifest, scene, policy), chunks.put, DT_NS, DT_NS // 2)
    runner.start("one", "x")
    assert runner.offer(sensors_at(FRAME_NS))
    assert policy.resetting.wait(60)
    runner.pause()
    runner.go_on()
    policy.may_go_on.set()
    assert runner.offer(sensors_at(9 * FRAME_NS))
    assert chunks.get(timeout=60).stamp_ns == 9 * FRAME_NS
    assert policy.calls[-2:] == ["reset", "chunk"]
    policy.close()
    assert runner.close()
