"""Cameras and joint encoders that are stale, frozen, of another form, lossy or in another order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from faults_deployment import SERVED, STEADY, Deployed
from faults_files import World
from faults_relay import Relay, relayed
from faults_truth import ages_of_executed_steps

FAILED, DEADLINE, REJECTED = 2, 3, 5
WORDS = "open the drawer"
Sensed = tuple[Deployed, Relay]


@pytest.fixture(scope="module")
def _deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sensed]:
    with relayed(World(tmp_path_factory.mktemp("relayed"))) as (deployed, relay):
        deployed.operator.until_active(SERVED, STEADY)
        yield deployed, relay


@pytest.fixture
def sensed(_deployment: Sensed) -> Iterator[Sensed]:
    """A deployment behind a relay, at rest in its first state, all faults off."""
    deployed, relay = _deployment
    deployed.operator.reset("", -1)
    yield deployed, relay
    relay.fix()
    deployed.rest()


def test_a_stale_camera_stops_the_arm_and_nothing_needs_to_be_restarted(sensed: Sensed, figure: Any) -> None:
    deployed, relay = sensed
    operator, status = deployed.operator, deployed.operator.status
    ended = operator.run_skill(STEADY, "wave", 60.0)
    operator.until_moving()
    relay.dropped = 1.0
    result = ended()
    assert (result.outcome, result.check) == (FAILED, "stale_observation"), result
    operator.until(lambda: status[-1].holding, "the arm to hold")
    truth = deployed.until_recorded()
    last = float(truth["stamp_s"][~truth["held"]][-1])
    after = last - relay.last_s
    relay.fix()
    assert operator.run_skill(STEADY, "wave", 0.5)().outcome == DEADLINE, (
        "frames came back, the skill did not"
    )
    figure(
        row=3,
        injected="the camera stops in the middle of a goal, and comes back",
        times=1,
        happened="the arm held when the last chunk was over, the goal failed by name, the next one ran",
        lost="the goal",
        worst=1e3 * after,
        unit="ms of motion after the last image",
        bar="200 ms",
    )
    assert after <= 16 / 80 + 1e-6


def test_a_short_gap_costs_a_pause_and_not_the_goal(sensed: Sensed, figure: Any) -> None:
    deployed, relay = sensed
    operator, status = deployed.operator, deployed.operator.status
    recovered = 0
    for _ in range(3):  # on a machine that stands still for long, the gap is a long one
        operator.reset("", -1)
        handle = operator.send_goal(STEADY, "wave", 60.0)
        ended = handle.get_result_async()
        operator.until_moving()
        relay.dropped = 1.0
        operator.until(lambda: status[-1].holding, "the arm to hold")
        relay.fix()
        executed = status[-1].executed
        operator.until(
            lambda done=ended.done, executed=executed: done() or status[-1].executed > executed, "motion"
        )
        recovered += not ended.done()
        deployed.rest_after(handle)
    assert recovered, "no goal went on after a gap"
    figure(
        row=3,
        injected="a gap of some hundred ms in the images",
        times=3,
        happened=f"the arm held; {recovered} of 3 goals went on by themselves",
        bar="recovers alone",
    )


def test_a_frozen_camera_is_told(sensed: Sensed, figure: Any) -> None:
    deployed, relay = sensed
    handle = deployed.operator.send_goal(STEADY, "wave", 60.0)
    deployed.operator.until_moving()
    relay.progress.clear()
    deployed.operator.until(lambda: relay.progress, "readings of the monitor")
    assert not relay.progress[-1].frozen
    relay.frozen = True
    frozen_s = relay.last_s
    deployed.operator.until(
        lambda: any(message.frozen for message in relay.progress), "a frozen camera to be told"
    )
    told = next(message for message in relay.progress if message.frozen)
    assert not told.succeeded
    after = told.header.stamp.sec + told.header.stamp.nanosec * 1e-9 - frozen_s
    deployed.rest_after(handle)
    figure(
        row=4,
        injected="old pixels under new stamps while the arm moves",
        times=1,
        happened="the monitor says frozen, and neither success nor standstill",
        worst=after,
        unit="s of the world until it was told",
        bar="1 s",
    )


@pytest.mark.parametrize(
    ("fault", "value", "said"), [("size", "64x48", "64x48"), ("encoding", "mono8", "mono8")]
)
def test_a_camera_of_another_form_is_refused_before_motion(
    sensed: Sensed, figure: Any, fault: str, value: str, said: str
) -> None:
    deployed, relay = sensed
    setattr(relay, fault, value)
    passed = relay.passed
    deployed.operator.until(lambda: relay.passed > passed + 2, "wrong images")
    executed = deployed.status.executed
    result = deployed.operator.run_skill(STEADY, "wave", 20.0)()
    assert (result.outcome, result.check) in (
        (REJECTED, "observation_contract"),
        (FAILED, "observation_contract"),
    ), result
    assert said in result.message
    assert "32x32" in result.message or "rgb8" in result.message, result.message
    assert deployed.status.executed == executed
    figure(
        row=5,
        injected=f"images of {fault} {value} instead of the scene's",
        times=1,
        happened="the goal was refused, with both forms, before any motion",
        lost="the goal",
        bar="before the first action",
    )


@pytest.mark.parametrize(
    ("share", "times"),
    [
        pytest.param(0.1, 3, id="0.1", marks=pytest.mark.long),
        pytest.param(0.3, 3, id="0.3", marks=pytest.mark.long),
        pytest.param(0.5, 1, id="0.5"),
    ],
)
def test_frames_that_are_dropped_cost_steps_and_not_the_task(
    sensed: Sensed, figure: Any, share: float, times: int
) -> None:
    deployed, relay = sensed
    relay.dropped, solved, held = share, 0, deployed.status.held
    lost = relay.lost
    for _ in range(times):
        deployed.operator.reset("", -1)
        assert deployed.operator.run_skill(SERVED, WORDS, 2.5)().outcome == DEADLINE
        truth = deployed.until_recorded()
        solved += bool(truth["success"][-1, 0])
    assert relay.lost > lost
    assert solved == times, f"{solved} of {times} solved"
    figure(
        row=6,
        injected=f"{100 * share:.0f} % of the images are lost",
        times=times,
        happened=f"{solved} of {times} goals reached their point; {relay.lost - lost} images lost, "
        f"{deployed.status.held - held} steps held, as control_status says",
        bar="5 points of success at 10 %",
    )


def test_joints_are_taken_by_name_or_refused(sensed: Sensed, figure: Any) -> None:
    deployed, relay = sensed
    relay.shuffled = True
    assert deployed.operator.run_skill(SERVED, WORDS, 2.5)().outcome == DEADLINE
    truth = deployed.until_recorded()
    assert truth["success"][-1, 0], "with the joints in another order the hand went elsewhere"
    assert float(ages_of_executed_steps(truth).max()) <= 16 / 80 + 1 / 80
    relay.renamed = "right_j1"
    executed = deployed.status.executed
    deployed.operator.until(lambda: deployed.status.held, "words of the bridge")
    result = deployed.operator.run_skill(SERVED, WORDS, 20.0)()
    assert result.outcome in (FAILED, REJECTED), result
    assert "right_j1" in result.message, result.message
    assert deployed.status.executed - executed <= 16
    assert np.isfinite(deployed.truth()["qpos"]).all()
    figure(
        row=15,
        injected="joints in random order, then one of another name",
        times=2,
        happened="found by name; the other name was refused with the joint that is missing",
        lost="the goal",
        bar="mapped or refused",
    )
