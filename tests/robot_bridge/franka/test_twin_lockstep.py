"""Lockstep of a twin: what `run N` is answered, and when."""

from __future__ import annotations

from openral_robot_bridge.twins.fci.lockstep import Lockstep


def test_a_motion_that_is_yet_to_begin_is_waited_for_and_one_that_has_ended_is_not() -> None:
    moved, said = [False], list[str]()
    lockstep = Lockstep(lambda: moved[0], said.append)
    for words in ("wait on", "run 1"):
        lockstep.hears(words.split())
    lockstep.after()
    assert said == []
    moved[0] = True
    lockstep.after()
    assert said == ["moving"]
    moved[0] = False  # as by a reflex
    lockstep.hears(["run", "1"])
    lockstep.after()
    assert said == ["moving", "at rest"]
    lockstep.hears(["wait", "on"])
    lockstep.hears(["run", "1"])
    lockstep.after()
    assert said == ["moving", "at rest"], "the next motion is waited for"
