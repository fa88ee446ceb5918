"""Stamps that follow a clock: over gaps, pauses and interruptions, and where the clock is set back."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from test_control_loop import HZ, BareRun, chunk, make, run

from openral_control.control_loop import LoopSettings
from openral_core.scene import load_scene


def test_stamps_follow_a_clock_over_a_gap_and_never_go_back():
    wall = {"now": 1e9}
    loop, executor, spy, _ = make(clock=lambda: wall["now"])

    def steps(count):
        seen = len(spy.states)
        run(loop, lambda: len(spy.states) > seen + count)
        return [state.stamp_s for state in spy.states[seen:]]

    assert steps(20)[0] == pytest.approx(1e9, abs=1 / HZ)
    loop.post(chunk(loop.now_s))
    executed = executor.counters.executed
    wall["now"] = loop.now_s + 100.0  # the machine slept: what was planned before is no longer of any use
    stamps = steps(40)
    assert stamps[0] == pytest.approx(wall["now"], abs=2 / HZ)
    assert executor.counters.executed == executed
    wall["now"] -= 50.0
    stamps += steps(20)
    assert (np.diff(stamps) >= 0).all()


def test_stamps_are_the_clocks_again_after_an_interruption_that_took_a_while():
    wall = {"now": 1e9}
    loop, _, spy, arm = make(clock=lambda: wall["now"])
    stamps = []

    def recover():
        wall["now"] += 0.4  # less than the pacer makes up for when nothing interrupts it
        return arm.reset("return", 7)

    def interrupt():
        if not stamps and len(spy.states) > 20:
            wall["now"] = loop.now_s
            stamps.append(loop.interrupt(recover))
        return stamps

    run(loop, interrupt)
    assert stamps[0] == pytest.approx(wall["now"], abs=2 / HZ)


def test_stamps_are_the_clocks_however_long_the_loop_stood_by():
    wall = {"now": 1e9}
    loop, _, spy, _ = make(clock=lambda: wall["now"])
    for stood_by_s in (0.4, 0.3):  # until it was activated, and in a pause: the pacer makes up for more
        wall["now"] += stood_by_s
        seen = len(spy.states)
        run(loop, lambda seen=seen: len(spy.states) > seen)
        assert spy.states[seen].stamp_s == pytest.approx(wall["now"], abs=2 / HZ)
        wall["now"] = loop.now_s


def test_stamps_do_not_run_ahead_of_the_clock_however_often_it_is_interrupted():
    loop, _, _, arm = make(real_time_factor=1.0, clock=time.time)
    ahead = []

    def interrupt():
        for _ in range(60):
            loop.interrupt(lambda: arm.reset("return", 7))
            ahead.append(loop.now_s - time.time())
        return True

    run(loop, interrupt)
    assert max(ahead) < 4 / HZ


def test_a_clock_that_was_set_back_is_told_since_nothing_pairs_with_the_states_any_more():
    wall = {"now": 1e9}
    loop, executor, _, _ = make(clock=lambda: wall["now"])
    bare = BareRun(load_scene("metaworld_drawer"), executor, loop, LoopSettings({}))
    assert bare.health()[0] == b"\x00"
    wall["now"] -= 5.0
    level, told, _ = bare.health()
    assert level == b"\x01"
    assert re.match(r"stamps are 5\.0 s ahead of .*set back; start the deployment again", told)
    wall["now"] += 5.0
    assert bare.health()[0] == b"\x00"
