"""The executor against hand-made and against ten thousand random chunks."""

from __future__ import annotations

import dataclasses
import re
import threading

import numpy as np
import pytest

from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.envelope import Envelope
from openral_core.errors import EnvelopeError
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState

HZ = 80.0
REPRESENTATION = "delta_ee_3d_plus_gripper"


class Strict:
    """Stands for the envelope."""

    def __init__(self):
        self.step_fault = None

    def check(self, data, **about):
        check(data, **about)

    def check_step(self, action, state):
        if self.step_fault is not None:
            raise EnvelopeError(self.step_fault)


def check(data, *, dim, dt, age_s, state, past, horizon_limit_s):
    if data.shape[0] * dt > horizon_limit_s:
        raise EnvelopeError("horizon")
    if dim != 4 or data.shape[1] != 4:
        raise EnvelopeError("dim must be 4")
    if not abs(dt * HZ - 1) <= 0.01:
        raise EnvelopeError("dt must be 1/80 s")
    if not np.isfinite(data).all():
        raise EnvelopeError("not finite")
    if np.abs(data).max() > 1:
        raise EnvelopeError("outside [-1, 1]")


def hold(last):
    return np.array([0.0, 0.0, 0.0, -1.0 if last is None else last[3]])


def chunk(step=0, goal="a", data=None, horizon=16, **changes):
    values = np.full((horizon, 4), 0.5, np.float32) if data is None else np.asarray(data, np.float32)
    good = Chunk(
        stamp_s=step / HZ,
        goal_id=goal,
        skill="s",
        instruction=f"do {goal}",
        representation=REPRESENTATION,
        sequence=0,
        horizon=len(values),
        dim=4,
        dt=1 / HZ,
        data=values.reshape(-1),
    )
    return dataclasses.replace(good, **changes)


class Followed(ChunkExecutor):
    """The executor of an arm that follows every step."""

    def next(self, step):
        given = super().next(step)
        self.stepped(followed=True)
        return given


@pytest.fixture
def executor():
    return Followed(HZ, Strict(), hold, representation=REPRESENTATION)


def counts(executor):
    c = executor.counters
    return c.executed, c.held, c.rejected, c.expired


@pytest.mark.parametrize("row", [0, 2, 3, 15])
def test_a_bad_number_condemns_the_chunk_even_in_a_step_that_is_past(executor, row):
    data = np.zeros((16, 4))
    data[row, 0] = np.nan
    assert executor.offer(chunk(10, data=data), 13, None) == "not finite"
    assert executor.next(13)[1]


@pytest.mark.parametrize("stamp_s", [0.0, 20 / HZ, np.nan])
def test_a_chunk_that_cannot_be_read_ends_what_its_goal_planned_however_old_it_is(executor, stamp_s):
    executor.offer(chunk(15), 15, None)
    assert not executor.next(16)[1]
    unreadable = dataclasses.replace(
        chunk(0), data=np.empty(0, np.float32), horizon=1, stamp_s=stamp_s, fault="data: 3 numbers"
    )
    assert executor.offer(unreadable, 17, None) == "data: 3 numbers"
    assert executor.next(17)[1]
    assert (executor.rejected_goal, executor.rejected_streak, counts(executor)) == ("a", 1, (1, 1, 1, 0))


def test_a_chunk_without_numbers_has_no_steps_that_expire():
    executor = ChunkExecutor(HZ, Strict(), hold, representation=REPRESENTATION)
    nothing = chunk(0, data=np.empty((0, 4)), horizon=0)
    told = executor.offer(dataclasses.replace(nothing, horizon=2**32 - 1, dim=0), 1000, None)
    assert told == f"it holds 0 values, not horizon {2**32 - 1} x dim 0"
    assert executor.counters.expired == 0


def test_holds_without_a_chunk(executor):
    action, held = executor.next(0)
    assert held
    assert action.tolist() == [0, 0, 0, -1]
    assert counts(executor) == (0, 1, 0, 0)


def test_rows_belong_to_the_steps_after_their_observation(executor):
    data = np.zeros((16, 4))
    data[:, 0] = np.arange(16) / 16
    assert executor.offer(chunk(10, data=data), 13, None) is None
    assert counts(executor)[3] == 3
    assert [executor.next(step)[0][0] * 16 for step in range(13, 26)] == list(range(3, 16))
    assert executor.next(26)[1]
    assert counts(executor) == (13, 1, 0, 3)


def test_a_chunk_of_one_action_is_executed_once(executor):
    assert executor.offer(chunk(0, horizon=1), 0, None) is None
    assert [executor.next(step)[1] for step in range(2)] == [False, True]


def test_newer_chunk_replaces_the_queue_and_hold_keeps_the_gripper(executor):
    executor.offer(chunk(0, data=np.full((16, 4), 0.1)), 0, None)
    executor.next(0)
    executor.offer(chunk(1, data=np.full((2, 4), 0.9)), 1, None)
    assert executor.next(1)[0][0] == pytest.approx(0.9)
    executor.next(2)
    action, held = executor.next(3)
    assert held
    assert action[3] == pytest.approx(0.9)
    assert not action[:3].any()


def ending(goal="a"):
    return dataclasses.replace(chunk(goal=goal), horizon=0, dim=0, data=np.empty(0, np.float32))


def test_the_end_of_a_goal_drops_what_is_left_of_its_chunk(executor):
    assert executor.offer(chunk(0), 0, None) is None
    assert not executor.next(0)[1]
    assert executor.offer(ending("b"), 1, None) is None
    assert not executor.next(1)[1], "the end of another goal stops nothing"
    assert executor.offer(ending(), 2, None) is None
    assert executor.next(2)[1]
    assert executor.active_goal == ""
    assert "has ended" in executor.offer(chunk(2), 2, None), "a chunk that was still under way"
    assert executor.offer(chunk(3, goal="c"), 3, None) is None
    assert not executor.next(3)[1]
    assert counts(executor) == (3, 1, 1, 0)


def test_the_end_of_a_goal_counts_also_while_it_rests_between_two_chunks(executor):
    """As of a policy that infers for longer than a goal stays active."""
    assert executor.offer(chunk(0), 0, None) is None
    for step in range(200):
        executor.next(step)
    assert executor.active_goal == ""
    assert executor.offer(ending(), 200, None) is None
    assert "has ended" in executor.offer(chunk(200), 200, None), "a chunk that was still under way"
    assert executor.next(200)[1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"goal_id": ""}, "goal_id is empty"),
        ({"dim": 7}, "holds 64 values"),
        ({"horizon": 0}, "holds 64 values"),
        ({"representation": "joint_positions"}, "joint_positions"),
        ({"stamp_s": 9.0}, "freshness: .*use_sim_time"),
        ({"stamp_s": 3.0 / HZ}, "freshness"),
        ({"stamp_s": float("nan")}, "use_sim_time"),
        ({"dt": 0.05}, "dt"),
        ({"data": np.full(64, np.nan, np.float32)}, "finite"),
    ],
)
def test_bad_chunk_is_refused_whole_and_the_arm_holds(executor, changes, words):
    executor.offer(chunk(0), 0, None)
    reason = executor.offer(dataclasses.replace(chunk(1), **changes), 1, None)
    assert re.search(words, reason)
    assert executor.last_rejection == reason
    assert executor.next(1)[1]
    assert counts(executor)[2] == 1


def test_the_reason_of_refusals_stays_as_long_as_their_count(executor):
    executor.offer(chunk(0), 0, None)
    reason = executor.offer(chunk(1, data=np.full((16, 4), np.nan)), 1, None)
    executor.offer(chunk(1), 1, None)
    assert (executor.last_rejection, executor.rejected_streak) == (reason, 1)
    executor.next(1)
    assert (executor.last_rejection, executor.rejected_streak) == ("", 0)


def test_one_bad_number_in_the_last_row_refuses_all(executor):
    data = np.zeros((16, 4))
    data[15, 3] = 1.5
    assert "outside" in executor.offer(chunk(0, data=data), 0, None)
    assert executor.next(0)[1]


def test_late_chunk_is_refused_but_does_not_disturb(executor):
    assert "past its last step" in executor.offer(chunk(0), 16, None)
    assert counts(executor) == (0, 0, 1, 16)
    executor.offer(chunk(20), 20, None)
    assert "older observation" in executor.offer(chunk(18), 21, None)
    assert not executor.next(21)[1]


def test_goals_follow_one_another_and_never_come_back(executor):
    executor.offer(chunk(0, "a"), 0, None)
    executor.offer(chunk(4, "b"), 4, None)
    assert (executor.active_goal, executor.instruction) == ("b", "do b")
    assert "replaced" in executor.offer(chunk(5, "a"), 5, None)
    assert executor.active_goal == "b"
    assert not executor.next(5)[1]


def test_goal_ends_when_no_chunk_comes_for_a_second(executor):
    executor.offer(chunk(0), 0, None)
    for step in range(90):
        executor.next(step)
    assert executor.active_goal == "a"
    for step in range(90, 110):
        executor.next(step)
    assert executor.active_goal == ""


def test_emergency_stop_latches_until_released(executor):
    executor.offer(chunk(0), 0, None)
    executor.stop()
    assert executor.next(0)[1]
    assert "emergency stop" in executor.offer(chunk(1), 1, None)
    executor.release()
    assert executor.next(2)[1], "nothing planned before the stop may come back"
    assert "has ended" in executor.offer(chunk(3), 3, None), "the goal that was stopped is over"
    assert executor.offer(chunk(4, "b"), 4, None) is None
    assert not executor.next(4)[1]


def test_a_stop_and_a_release_while_a_chunk_is_judged_leave_nothing_of_it(executor):
    """What the emergency stop finds half way into the queue must not come out after its release."""

    class Slow(Strict):
        def check(self, data, **about):
            thread = threading.Thread(target=lambda: (executor.stop(), executor.release(), done.set()))
            thread.start()
            done.wait(0.2)  # without a lock it would get through now
            threads.append(thread)

    done, threads = threading.Event(), []
    executor._envelope = Slow()
    executor.offer(chunk(0), 0, None)
    threads[0].join()
    assert done.is_set()
    assert executor.next(0)[1]


def test_refusals_are_counted_for_each_goal(executor):
    executor.offer(chunk(0, "mine"), 0, None)
    for number in range(5):
        executor.offer(chunk(0, "other", data=np.full((16, 4), np.nan)), 0, None)
        assert (executor.rejected_goal, executor.rejected_streak) == ("other", number + 1)
    executor.offer(chunk(0, "mine", data=np.full((16, 4), np.nan)), 0, None)
    assert (executor.rejected_goal, executor.rejected_streak) == ("mine", 1)
    executor.offer(chunk(0, "mine"), 0, None)
    assert executor.rejected_streak == 1, "accepted is not executed yet"
    executor.next(0)
    assert executor.rejected_streak == 0
    assert counts(executor)[2] == 6


def test_refusals_of_many_goals_are_not_remembered_for_ever(executor):
    for number in range(1000):
        executor.offer(chunk(0, f"{number:032x}", data=np.full((16, 4), np.nan)), 0, None)
    assert len(executor._streaks) <= 64


def test_a_step_that_no_longer_fits_drops_the_rest_of_its_chunk(executor):
    executor.offer(chunk(0), 0, None)
    assert executor.check_next(0, None) is None
    assert not executor.next(0)[1]
    executor._envelope.step_fault = "workspace: it moved"
    assert executor.check_next(1, None) == "workspace: it moved"
    assert executor.next(1)[1]
    assert executor.check_next(2, None) is None, "nothing is left to be judged"
    assert (executor.rejected_goal, executor.rejected_streak) == ("a", 1)
    assert executor.last_rejection == "workspace: it moved"


def test_a_chunk_longer_than_its_sender_announced_is_refused(executor):
    assert executor.offer(chunk(0, horizon_limit_s=0.1), 0, None) == "horizon"
    assert executor.offer(chunk(0, horizon_limit_s=0.2), 0, None) is None


def test_reset_of_the_scene_drops_older_answers(executor):
    executor.offer(chunk(0), 0, None)
    executor.restart(5)
    assert executor.next(5)[1]
    assert "before the scene was reset" in executor.offer(chunk(4), 6, None)
    assert executor.offer(chunk(6), 6, None) is None


def _mutate(rng, step):
    """A chunk for `step` with one random fault, and whether the fault happens to be none."""
    base = chunk(step, goal="g")
    faults = [
        {"data": np.where(rng.random(64) < 0.02, rng.choice([np.nan, np.inf, 1e9]), 0.1).astype(np.float32)},
        {"data": base.data[: rng.integers(0, 64)]},
        {"dim": int(rng.choice([0, 1, 3, 5, 7, 4000000000]))},
        {"horizon": int(rng.choice([0, 1, 15, 17, 1000000]))},
        {"dt": float(rng.choice([0.0, -0.0125, 0.05, np.nan, np.inf]))},
        {"stamp_s": float(rng.choice([np.nan, np.inf, -np.inf, 1e12, step / HZ + 1.0]))},
        {"representation": str(rng.choice(["", "joint_positions", "delta_ee_6d"]))},
        {"goal_id": ""},
    ]
    fault = faults[rng.integers(len(faults))]
    bad = dataclasses.replace(base, **fault)
    numbers = bad.data if bad.data.size == 64 else np.array([np.nan])
    harmless = "data" in fault and np.isfinite(numbers).all() and np.abs(numbers).max() <= 1
    return bad, harmless


@pytest.mark.parametrize("count", [1_500, pytest.param(10_000, marks=pytest.mark.long)])
def test_thousands_of_random_chunks_against_the_real_envelope(count):
    scene = load_scene("metaworld_drawer")
    envelope = Envelope(scene, load_robot(scene.robot_id))
    executor = Followed(HZ, envelope, hold, representation=REPRESENTATION)
    state = RobotState(0.0, (), np.zeros(0), np.array([0.0, 0.6, 0.2]), np.array([0.0, 0, 0, 1]), 0.1)
    rng = np.random.default_rng(7)
    refused = accepted = 0
    for step in range(count):
        bad, harmless = _mutate(rng, step)
        reason = executor.offer(bad, step, state)
        action, held = executor.next(step)
        assert np.isfinite(action).all()
        assert np.abs(action).max() <= 1
        assert (reason is None) == harmless, (bad, reason)
        assert held == (not harmless)
        refused, accepted = refused + (not harmless), accepted + harmless
    assert accepted > 0.01 * count
    assert refused > 0.7 * count
    assert counts(executor)[:3] == (accepted, refused, refused)
