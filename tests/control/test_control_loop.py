"""The loop over the fake world: time, cameras, lockstep, resets, the record, and a simulator that fails."""

from __future__ import annotations

import re
import threading
import time
from contextlib import nullcontext

import numpy as np
import pytest

from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.control_loop import ControlLoop, LoopSettings
from openral_control.control_thread import ControlRun
from openral_control.pacing import Pacer, RateMeter
from openral_core.errors import ControlError, EnvelopeError, NotFoundError, SimulationError
from openral_core.scene import load_scene
from openral_sim_bridge.backends.fake import FakeBackend
from openral_sim_bridge.simulated_arm import SimulatedArm, WorldRecorder
from openral_sim_bridge.truth_recorder import TruthRecorder

HZ = 80.0


class Finite:
    """An envelope that wants finite numbers, and the hand at x below a limit."""

    x_limit = np.inf

    def check(self, data, **about):
        if not np.isfinite(data).all():
            raise EnvelopeError("not finite")

    def check_step(self, action, state):
        if state.ee_position[0] + 0.01 * action[0] > self.x_limit:
            raise EnvelopeError("too far")


class Spy:
    """A sink that remembers, and may answer each observation like a policy."""

    def __init__(self):
        self.clocks, self.states, self.shots, self.refusals, self.cuts, self.goals = [], [], [], [], [], 0
        self.answer, self.steps, self.begun = None, [], []

    def executed(self, stamp_s, action, held, goal_id):
        self.steps.append((stamp_s, tuple(action), held, goal_id))

    def begin(self, stamp_s):
        self.begun.append(stamp_s)

    def together(self):
        return nullcontext()

    def clock(self, stamp_s):
        self.clocks.append(stamp_s)

    def state(self, state):
        self.states.append(state)

    def images(self, stamp_s, images):
        self.shots.append((stamp_s, {name: image.copy() for name, image in images.items()}))
        if self.answer is not None:
            self.answer(stamp_s, self.states[-1])

    def rejected(self, chunk, reason):
        self.refusals.append(reason)

    def cut_short(self, reason):
        self.cuts.append(reason)

    def goal_changed(self):
        self.goals += 1


def make(mode="realtime", recorder=None, real_time_factor=0.0, fail_after=None, clock=None):
    backend = FakeBackend(["reach", "return"], width=32, height=24, fail_after=fail_after)
    executor = ChunkExecutor(HZ, Finite(), backend.hold_action, representation="r")
    spy = Spy()
    settings = LoopSettings({"corner2": 4}, mode, real_time_factor, clock)
    arm = SimulatedArm(backend)
    state = arm.reset("reach", 3)
    record = WorldRecorder(arm, backend, recorder) if recorder else None
    return ControlLoop(arm, executor, spy, settings, state, record), executor, spy, arm


def chunk(stamp_s, goal="g", value=0.1, horizon=16):
    data = np.full((horizon, 4), value, np.float32).reshape(-1)
    return Chunk(stamp_s, goal, "skill", "words", "r", 0, horizon, 4, 1 / HZ, data, 0.02)


def run(loop, until, timeout=90.0):
    """Run the loop in a thread until `until()`; return what it raised."""
    raised, stopped = [], threading.Event()

    def body():
        try:
            loop.run(lambda: not stopped.is_set())
        except SimulationError as error:
            raised.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    deadline = time.monotonic() + timeout
    try:
        while thread.is_alive() and not until() and time.monotonic() < deadline:
            time.sleep(0.002)
        assert until() or raised, "the loop did not get there in time"
    finally:
        stopped.set()
        loop.wake()
        thread.join(timeout)
    assert not thread.is_alive()
    return raised[0] if raised else None


def test_every_fourth_step_has_an_image_on_the_stamp_of_its_state():
    loop, executor, spy, _ = make()
    run(loop, lambda: len(spy.shots) > 10)
    steps = [round(state.stamp_s * HZ) for state in spy.states]
    assert steps == list(range(steps[0], steps[0] + len(steps)))
    later = [round(stamp * HZ) for stamp, _ in spy.shots[1:]]
    assert all(step % 4 == 0 for step in later)
    assert np.unique(np.diff(later)).tolist() == [4]
    assert {stamp for stamp, _ in spy.shots} <= {state.stamp_s for state in spy.states}
    assert spy.clocks == [state.stamp_s for state in spy.states]
    assert executor.counters.held == len(steps) - 1


def test_each_step_is_told_with_the_stamp_of_its_state_and_whether_it_is_a_hold():
    loop, _, spy, _ = make()
    loop.post(chunk(loop.now_s, value=0.25, horizon=3))
    loop.run(lambda: len(spy.states) < 7)
    assert [stamp for stamp, *_ in spy.steps] == [state.stamp_s for state in spy.states[1:]]
    assert [(action[0], held, goal) for _, action, held, goal in spy.steps] == [(0.25, False, "g")] * 3 + [
        (0.0, True, "")
    ] * 3


def test_a_policy_in_lockstep_gives_the_same_bytes_twice():
    def rollout():
        loop, executor, spy, _ = make("lockstep")
        spy.answer = lambda stamp, state: loop.post(
            chunk(stamp, value=0.05 + 0.01 * np.sin(100 * state.ee_position[0]))
        )
        run(loop, lambda: len(spy.shots) > 30)
        assert executor.counters.held == 0
        return [image["corner2"].tobytes() for _, image in spy.shots[:30]], [
            s.ee_position for s in spy.states[:100]
        ]

    (images_a, path_a), (images_b, path_b) = rollout(), rollout()
    assert images_a == images_b
    assert np.array_equal(path_a, path_b)


def test_lockstep_waits_and_repeats_the_newest_observation():
    loop, executor, spy, _ = make("lockstep")
    run(loop, lambda: len(spy.shots) >= 4)
    assert len({stamp for stamp, _ in spy.shots}) == 1
    assert executor.counters == type(executor.counters)()


def test_lockstep_goes_on_after_a_refused_answer():
    loop, executor, spy, _ = make("lockstep")
    spy.answer = lambda stamp, state: loop.post(chunk(stamp, value=np.nan))
    run(loop, lambda: len(spy.refusals) >= 3)
    assert executor.counters.executed == 0
    assert executor.counters.held >= 8
    assert executor.counters.rejected == len(spy.refusals)
    assert not np.ptp([state.ee_position for state in spy.states], axis=0).any()


def test_what_interrupts_may_take_longer_than_it_waits_to_begin():
    loop, _, _, arm = make()
    stamps = []

    def slow():
        time.sleep(0.3)
        return arm.reset("return", 7)

    run(loop, lambda: stamps or stamps.append(loop.interrupt(slow, timeout_s=0.05)))
    assert stamps[0] > 0.0
    assert loop.now_s > stamps[0] - 1 / HZ


def test_what_a_busy_loop_does_not_come_to_is_not_done_later():
    loop, _, _, arm = make()
    done = []

    def work():
        done.append(1)
        return arm.reset("return", 7)

    with pytest.raises(ControlError, match="busy for 0 s; nothing was done"):
        loop.interrupt(work, timeout_s=0.05)  # nobody runs it
    run(loop, lambda: loop.now_s > 0.5)
    assert done == []


def test_who_interrupts_learns_of_what_ends_the_loop():
    loop, _, _, _ = make()
    told, raised = [], []

    def body():
        try:
            loop.run(lambda: True)
        except ValueError as error:
            raised.append(error)

    def broken():
        raise ValueError("the world is no world")

    thread = threading.Thread(target=body)
    thread.start()
    try:
        loop.interrupt(broken)
    except ControlError as error:
        told.append(str(error))
    thread.join(30)
    assert not thread.is_alive()
    assert told == ["the control loop ends: ValueError: the world is no world"]
    assert str(raised[0]) == "the world is no world"


def test_reset_from_another_thread_and_time_goes_on():
    loop, _, spy, arm = make()
    stamps = []

    def reset():
        if not stamps and len(spy.states) > 20:
            loop.post(chunk(spy.states[-1].stamp_s, value=1.0))
            stamps.append(loop.interrupt(lambda: arm.reset("return", 7)))
        return len(stamps) and len(spy.shots) > 20

    run(loop, reset)
    assert np.all(np.diff([state.stamp_s for state in spy.states]) > 0)
    first = next(state for state in spy.states if state.stamp_s == stamps[0])
    assert first.ee_position == pytest.approx([0.0, 0.607, 0.2])


def test_reset_is_served_while_time_stands_still_and_refused_after_the_end():
    loop, _, spy, arm = make()
    done = threading.Event()
    thread = threading.Thread(target=loop.stand_by, args=(done.is_set,))
    thread.start()
    stamp = loop.interrupt(lambda: arm.reset("return", 7))
    assert spy.begun[-1] == stamp
    assert stamp not in {made for made, *_ in spy.steps}
    assert loop.interrupt(lambda: arm.reset("return", 8)) > stamp
    assert next(state.stamp_s for state in spy.states) == stamp
    done.set()
    loop.wake()
    thread.join()
    loop.close()
    with pytest.raises(ControlError, match="has ended; start the bridge again"):
        loop.interrupt(lambda: arm.reset("return", 9))


def test_who_interrupts_while_the_loop_is_closed_does_not_wait_for_nobody():
    loop, _, _, arm = make()
    looking, look = threading.Event(), threading.Event()
    asked, told = [], []

    def ready():
        asked.append(1)
        if len(asked) == 1:
            return False
        looking.set()  # the loop holds its lock from here on
        look.wait(60)
        raise SimulationError("the loop's thread ends")

    def stand_by():
        with pytest.raises(SimulationError):
            loop.stand_by(ready)

    def interrupt():
        with pytest.raises(ControlError) as caught:
            loop.interrupt(lambda: arm.reset("return", 9), timeout_s=1.0)
        told.append(str(caught.value))

    threads = [threading.Thread(target=each) for each in (stand_by, interrupt, loop.close)]
    threads[0].start()
    assert looking.wait(60)
    for thread in threads[1:]:
        thread.start()
        time.sleep(0.1)
    look.set()
    for thread in threads:
        thread.join(60)
    assert re.search(r"the control loop .*ended", told[0])


def test_reset_to_an_unknown_task_says_so_and_the_loop_lives():
    loop, _, spy, arm = make()
    errors = []

    def reset():
        if not errors:
            with pytest.raises(NotFoundError, match="'juggle' is not of this scene") as caught:
                loop.interrupt(lambda: arm.reset("juggle", 0))
            errors.append(caught.value)
        return len(spy.shots) > 20

    assert run(loop, reset) is None


def test_goal_changes_are_told():
    loop, executor, spy, _ = make("lockstep")
    spy.answer = lambda stamp, state: loop.post(chunk(stamp, goal="a" if len(spy.shots) < 10 else "b"))
    run(loop, lambda: executor.active_goal == "b")
    assert spy.goals == 2


def test_a_failing_simulator_ends_the_loop_with_its_reason():
    loop, _, _, _ = make(fail_after=50)
    error = run(loop, lambda: False)
    assert "fails after 50 steps" in str(error)


def test_the_record_holds_every_step(tmp_path):
    recorder = TruthRecorder(tmp_path / "run", ["reach", "return"], HZ)
    loop, executor, spy, _ = make("lockstep", recorder)
    spy.answer = lambda stamp, state: loop.post(
        chunk(
            stamp,
            goal="a" if len(spy.shots) < 10 else "b",
            value=np.nan if len(spy.shots) in (5, 20, 21) else 0.1,
        )
    )
    run(loop, lambda: len(spy.shots) > 400)
    recorder.close()
    with np.load(tmp_path / "run" / "truth.npz") as truth:
        assert len(truth["stamp_s"]) == executor.counters.executed + executor.counters.held
        assert np.allclose(np.diff(truth["stamp_s"]), 1 / HZ)
        assert truth["qpos"].shape == (len(truth["stamp_s"]), 4)
        assert truth["tasks"].tolist() == ["reach", "return"]
        assert truth["goals"].tolist() == ["", "a", "b"]
        assert (truth["reset_task"].tolist(), truth["reset_init"].tolist()) == (["reach"], [3])
        assert truth["chunk_latency_s"] == pytest.approx(0.02)
        assert truth["chunk_rejected"].sum() == executor.counters.rejected == 3
        assert np.array_equal(
            truth["qpos"][:, :3], np.array([s.ee_position for s in spy.states[-len(truth["qpos"]) :]])
        )
    assert not list(tmp_path.rglob("*.partial"))


def test_pacer_keeps_the_rate_and_catches_up_after_a_slow_step():
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    pacer = Pacer(0.0125, clock=lambda: now[0], sleep=sleep)
    for step in range(800):
        now[0] += 0.04 if step % 50 == 0 else 0.001
        pacer.wait()
    assert now[0] == pytest.approx(800 * 0.0125, abs=0.04)
    assert 16 <= pacer.late <= 80
    now[0] += 5.0
    pacer.wait()
    pacer.wait()
    assert slept[-1] == pytest.approx(0.0125), "five lost seconds are not caught up"


def test_half_speed_and_unpaced():
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    pacer = Pacer(0.0125, 0.5, clock=lambda: now[0], sleep=sleep)
    for _ in range(100):
        pacer.wait()
    assert now[0] == pytest.approx(2.5)
    Pacer(0.0125, 0.0, clock=lambda: now[0], sleep=lambda seconds: pytest.fail("must not sleep")).wait()


def test_rate_meter_forgets_what_is_old():
    now = [0.0]
    meter = RateMeter(clock=lambda: now[0])
    for _ in range(400):
        now[0] += 0.0125
        meter.tick()
    assert meter.hz == pytest.approx(80, rel=0.01)
    now[0] += 2.0
    assert meter.hz < 41


def test_the_end_of_a_goal_is_no_answer_that_lets_time_go_on():
    loop, executor, spy, _ = make("lockstep")
    end = Chunk(0.0, "g", "skill", "", "", 0, 0, 0, 0.0, np.empty(0, np.float32))
    spy.answer = lambda stamp, state: loop.post(end)
    run(loop, lambda: len(spy.shots) >= 4)
    assert len({stamp for stamp, _ in spy.shots}) == 1
    assert executor.counters == type(executor.counters)()


def test_a_step_that_no_longer_fits_where_the_robot_is_ends_the_chunk():
    loop, executor, spy, _ = make()
    executor._envelope.x_limit = 0.02
    loop.post(chunk(loop.now_s, value=1.0))
    run(loop, lambda: executor.counters.held > 5)
    assert spy.cuts == ["too far"]
    assert executor.counters.executed == 2
    assert spy.states[-1].ee_position[0] == pytest.approx(0.02)


class BareRun(ControlRun):
    """A run of a loop, without anything to be released."""

    def describe(self):
        return "a bare run"

    def _close(self):
        pass


def test_a_chunk_that_came_before_a_stop_is_not_executed_after_its_release_by_a_loop_that_was_paused():
    loop, executor, spy, _ = make()
    run = BareRun(load_scene("metaworld_drawer"), executor, loop, LoopSettings({}))
    loop.post(chunk(loop.now_s))
    run.stop()
    run.release()
    loop.run(lambda: len(spy.steps) < 4)

    assert [held for _, _, held, _ in spy.steps] == [True] * 4


def test_a_loop_that_is_held_up_keeps_the_ends_of_goals_and_says_what_it_drops():
    loop, executor, spy, _ = make()
    loop.post(chunk(loop.now_s))
    run(loop, lambda: executor.active_goal == "g")
    loop.post(Chunk.end_of("g"))
    for _ in range(200):
        loop.post(chunk(loop.now_s, "h"))
    loop.post(chunk(loop.now_s))
    run(loop, lambda: len(spy.refusals) >= 2)

    assert "138 chunks came while the loop was busy" in spy.refusals[0]
    assert "goal g has ended" in spy.refusals[-1]
