"""The emergency stop of a bridge: latched in every state, over the end of the process, and quicker than a reset."""

from __future__ import annotations

import signal

import pytest
from bridge_observer import moved, transition
from openral.srv import ResetScene
from std_srvs.srv import Trigger


def test_emergency_stop_latches(start, observer):
    start()
    observer.begin("a" * 32)
    assert observer.call(Trigger, "/openral/estop").success
    observer.until(lambda: observer.seen["estop"] and observer.seen["estop"][-1].data)
    observer.begin("b" * 32)
    observer.answer_until(lambda: "emergency stop" in observer.status().last_rejection)
    assert observer.status().executed == 0
    assert observer.call(Trigger, "/openral/estop_reset").success
    for goal in ("a" * 32, "b" * 32):  # what began before the release is over
        observer.begin(goal)
        held = observer.status().held
        observer.answer(0.2)
        observer.until(lambda held=held: observer.status().held > held + 40)
    assert observer.status().executed == 0
    observer.begin("c" * 32)
    observer.answer_until(lambda: observer.status().executed > 0)


def test_emergency_stop_outlives_every_lifecycle_state(start, observer, tmp_path):
    start(run_dir=str(tmp_path))
    observer.until(lambda: len(observer.seen["image"]) > 4)
    assert observer.call(Trigger, "/openral/estop").success
    for number in (4, 2, 1, 3):  # deactivate, cleanup, configure, activate
        transition(observer, number)
    observer.seen["image"].clear()
    observer.until(lambda: observer.seen["image"])
    observer.until(lambda: observer.seen["estop"][-1].data and observer.status().estopped)
    assert not moved(observer)
    for number in (4, 2):
        transition(observer, number)
    assert observer.call(Trigger, "/openral/estop_reset").success, "it can be reset in any state"
    for number in (1, 3):
        transition(observer, number)
    observer.until(lambda: not observer.status().estopped and not observer.seen["estop"][-1].data)
    observer.seen["image"].clear()
    assert any(moved(observer) for _ in range(5)), "a busy machine may answer a chunk late"


@pytest.mark.parametrize("in_a_run", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_emergency_stop_outlives_the_process(start, observer, tmp_path, in_a_run):
    words = {"run_dir": str(tmp_path)} if in_a_run else {}
    first = start(**words)
    observer.until(lambda: len(observer.seen["image"]) > 4)
    assert observer.call(Trigger, "/openral/estop").success
    first.kill()
    first.communicate()
    for seen in observer.seen.values():
        seen.clear()
    second = start(**words)
    observer.until(lambda: observer.seen["image"] and observer.seen["estop"] and observer.seen["status"])
    assert observer.seen["estop"][-1].data
    assert not moved(observer)
    assert observer.call(Trigger, "/openral/estop_reset").success
    assert any(moved(observer) for _ in range(5)), "a busy machine may answer a chunk late"
    second.send_signal(signal.SIGINT)
    _, errors = second.communicate(timeout=90)
    assert errors.count("the emergency stop is still latched") == 1
    assert "see that all is safe, then call /openral/estop_reset" in errors
    third = start(**words)
    observer.seen["status"].clear()
    observer.until(lambda: len(observer.seen["status"]) > 3)
    assert not observer.status().estopped
    assert third.poll() is None


def test_a_stop_that_cannot_be_remembered_holds_and_says_so(start, observer, tmp_path):
    start(run_dir=str(tmp_path))
    observer.until(lambda: len(observer.seen["image"]) > 4)
    (tmp_path / "estop.json").mkdir()  # what nothing can be renamed over
    reply = observer.call(Trigger, "/openral/estop")
    assert reply.success
    assert "a bridge that is started again will not know" in reply.message
    assert str(tmp_path / "estop.json") in reply.message
    assert not moved(observer)


def test_the_emergency_stop_does_not_wait_for_a_reset(start, observer):
    """The world's thread is busy with resets for seconds, one before each of its steps."""
    start()
    observer.until(lambda: len(observer.seen["image"]) > 4)
    resets = observer.node.create_client(ResetScene, "/openral/sim/reset")
    stop = observer.node.create_client(Trigger, "/openral/estop")
    observer.until(lambda: resets.service_is_ready() and stop.service_is_ready())
    waiting = [
        resets.call_async(ResetScene.Request(task="drawer-close-v3", seed=seed)) for seed in range(300)
    ]
    answer = stop.call_async(Trigger.Request())
    observer.until(answer.done)
    assert answer.result().success
    assert sum(future.done() for future in waiting) < len(waiting)
