"""Emergency stop at any phase, and a sender that is gone: the arm holds, and the stop is lifted by hand only."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults_deployment import SERVED, STEADY, Deployed
from faults_member import Member, StandIn
from faults_truth import ages_of_executed_steps
from lifecycle_msgs.msg import Transition
from system_stack import wait_for

ESTOPPED, REJECTED, DEADLINE = 6, 5, 3
WORDS = "open the drawer"
BRIDGE = "/openral/sim_bridge"
PHASES = ("idle", "planning", "moving", "ending", "resetting")


def idle(shared: Deployed) -> None:
    """Nothing runs."""


def planning(shared: Deployed) -> None:
    """The reasoner has just been told something."""
    shared.operator.say(WORDS)


def wave(shared: Deployed) -> Any:
    """Send a goal that moves the arm, and return its handle once it does.

    The end of a stop and a goal come from two processes: a goal that came first is refused, and sent again.
    """
    while True:
        handle = shared.operator.send_goal(STEADY, "wave", 600.0)
        ended = handle.get_result_async()
        shared.operator.until(
            lambda ended=ended: ended.done() or not shared.status.holding, "motion or a refusal"
        )
        if not ended.done():
            shared.operator.until_moving()
            return handle
        assert ended.result().result.check == "estop", ended.result().result.message


def moving(shared: Deployed) -> None:
    """A goal moves the arm."""
    wave(shared)


def ending(shared: Deployed) -> None:
    """A goal is being cancelled."""
    wave(shared).cancel_goal_async()


def resetting(shared: Deployed) -> None:
    """The world is being put back while a goal runs."""
    wave(shared)
    threading.Thread(target=shared.operator.reset, args=("", -1), daemon=True).start()


BEGIN: dict[str, Callable[[Deployed], None]] = {
    "idle": idle,
    "planning": planning,
    "moving": moving,
    "ending": ending,
    "resetting": resetting,
}


def stop_in(shared: Deployed, member: Member, phase: str) -> tuple[float, float]:
    """Stop in a phase; return [s] from the call to its answer, and to the first status that says so."""
    BEGIN[phase](shared)
    known, begun = len(member.stopped_at), time.perf_counter()
    answered = member.press("/openral/estop")
    member.until(lambda: len(member.stopped_at) > known, "a status that says that the stop is latched")
    return answered, member.stopped_at[-1] - begun


def assert_latched(shared: Deployed) -> None:
    """The arm holds, and every skill refuses goals with the way out."""
    operator = shared.operator
    operator.until(lambda: shared.status.estopped and shared.status.holding, "a latched stop")
    executed = shared.status.executed
    for slug, words in ((STEADY, "wave"), (SERVED, WORDS)):
        result = operator.run_skill(slug, words, 5.0)()
        # The news of the stop and the goal come from two processes: a goal that came first ends by the news, and has
        # counted its steps by the clock until then. That none was executed is asked of the bridge.
        assert result.outcome in (REJECTED, ESTOPPED), (slug, result)
        assert result.check == "estop", (slug, result)
        assert "service estop_reset" in result.message
    assert shared.status.executed == executed


def assert_lifted(shared: Deployed) -> None:
    """After the reset both skills take goals again, as soon as they have heard of it."""
    shared.operator.press("/openral/estop_reset")
    for slug, words in ((STEADY, "wave"), (SERVED, WORDS)):
        wait_for(
            lambda slug=slug, words=words: runs_to_its_deadline(shared, slug, words), f"{slug} to take goals"
        )


def runs_to_its_deadline(shared: Deployed, slug: str, words: str) -> bool:
    """Whether a goal runs; False: it is refused because of the stop."""
    result = shared.operator.run_skill(slug, words, 0.3)()
    told = (
        result.outcome,
        result.check,
    )  # a skill that hears late of the stop before the reset ends its goal
    assert told in ((DEADLINE, "deadline"), (REJECTED, "estop"), (ESTOPPED, "estop")), result.message
    return bool(result.outcome == DEADLINE)


def stops(shared: Deployed, rounds: int) -> list[float]:
    """Stop in every phase, `rounds` times; return the times to the answer [ms]."""
    times = []
    with Member(shared.stack) as member:
        for _ in range(rounds):
            for phase in PHASES:
                answered, _ = stop_in(shared, member, phase)
                times.append(1e3 * answered)
                assert_latched(shared)
                shared.rest()
    return times


def record(figure: Any, times: list[float]) -> None:
    figure(
        row=22,
        injected="E-stop while idle, planning, moving, ending and resetting",
        times=len(times),
        happened=f"held, latched, goals refused until the reset; answered in p50 {np.median(times):.1f} ms",
        worst=float(np.percentile(times, 99)),
        unit="ms (p99)",
        bar="20 ms",
    )


def test_a_stop_in_every_phase_holds_and_latches(shared: Deployed, figure: Any) -> None:
    record(figure, stops(shared, 1))
    assert_lifted_after_one_more(shared)


def assert_lifted_after_one_more(shared: Deployed) -> None:
    shared.operator.press("/openral/estop")
    assert_latched(shared)
    assert_lifted(shared)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_stop_in_every_phase_two_hundred_times(shared: Deployed, figure: Any) -> None:
    record(figure, stops(shared, 200))


def test_the_latch_survives_the_bridges_life_cycle(shared: Deployed, figure: Any) -> None:
    """Deactivate, clean up, configure and activate the bridge: what was latched stays latched."""
    with StandIn(shared.stack) as stand_in:
        stand_in.press("/openral/estop")
        cycle = (
            Transition.TRANSITION_DEACTIVATE,
            Transition.TRANSITION_CLEANUP,
            Transition.TRANSITION_CONFIGURE,
            Transition.TRANSITION_ACTIVATE,
        )
        assert all(stand_in.change(BRIDGE, transition) for transition in cycle)
        shared.operator.until(lambda: stand_in.state_of(BRIDGE) == 3, "an active bridge")
        told = len(stand_in.status)
        stand_in.until(lambda: len(stand_in.status) > told + 2, "the bridge's words after its life cycle")
        executed = stand_in.status[-1].executed
        stand_in.send(np.full((16, 4), 0.1, np.float32))
        told = len(stand_in.status)
        stand_in.until(lambda: len(stand_in.status) > told + 2, "the bridge's words after the chunk")
        assert stand_in.status[-1].estopped, "the life cycle lifted the stop"
        assert stand_in.status[-1].executed == executed
    assert_latched(shared)
    assert_lifted(shared)
    # Long enough for observations to count as stale, were those of the new clock not taken.
    seen = shared.operator.run_skill(STEADY, "wave", 2.5)()
    assert (seen.outcome, seen.check) == (DEADLINE, "deadline"), seen.message
    figure(
        row=22,
        injected="E-stop, then deactivate, cleanup, configure, activate of the bridge",
        times=1,
        happened="still latched; a chunk was refused",
        bar="latched",
    )


def races(shared: Deployed, count: int) -> None:
    """Stop and reset in quick succession; afterwards every skill must agree with the bridge."""
    with Member(shared.stack) as first, Member(shared.stack, "other") as second:
        for turn in range(count):
            threads = [
                threading.Thread(target=member.press, args=(service,))
                for member, service in ((first, "/openral/estop"), (second, "/openral/estop_reset"))
            ]
            for thread in threads if turn % 2 else reversed(threads):
                thread.start()
            for thread in threads:
                thread.join()
        for member in (first, second):
            member.press("/openral/estop")
            member.press("/openral/estop_reset")


def test_stop_and_reset_in_quick_succession_leave_all_nodes_agreed(shared: Deployed, figure: Any) -> None:
    for _ in range(2):
        races(shared, 10)
        assert_lifted(shared)
    figure(
        row=22,
        injected="E-stop and reset by two clients at once",
        times=20,
        happened="after the last reset every skill took goals again",
        bar="all nodes agree",
    )


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_stop_and_reset_a_thousand_times(shared: Deployed, figure: Any) -> None:
    for _ in range(100):
        races(shared, 10)
        assert_lifted(shared)
    figure(
        row=22,
        injected="E-stop and reset by two clients at once",
        times=1000,
        happened="after each ten every skill took goals again",
        bar="all nodes agree",
    )


SENDER = """
import sys, time
from unittest import mock
from faults_member import StandIn
with StandIn(mock.Mock(domain=int(sys.argv[1]))) as sender:
    print("sends", flush=True)
    while True:
        sender.send([[0.05, 0.0, 0.0, -1.0]] * 16)
        time.sleep(0.05)
"""


def test_the_arm_holds_when_the_sender_of_chunks_is_killed(shared: Deployed, figure: Any) -> None:
    """A policy node, or a teleoperator, that is gone: what it sent last is not executed beyond its own end."""
    times = 1
    for _ in range(times):
        shared.operator.reset("", -1)
        paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "system")]
        program = f"import sys; sys.path[:0] = {paths}\n" + SENDER
        with subprocess.Popen(
            [sys.executable, "-c", program, str(shared.stack.domain)], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"sends\n"
            shared.operator.until_moving()
            child.send_signal(signal.SIGKILL)
        shared.operator.until(
            lambda: shared.status.holding and not shared.status.active_goal, "the arm to hold"
        )
    after = ages_of_executed_steps(shared.until_recorded())
    assert after.max() <= 16 / 80 + 1e-6, "a step was executed beyond the end of the chunk that planned it"
    figure(
        row=23,
        injected="SIGKILL of the process that sends chunks",
        times=times,
        happened="the arm held by itself",
        worst=1e3 * float(after.max()),
        unit="ms of the world after the last observation",
        bar="500 ms",
    )
