"""Life cycles in every order, and deployments that come up and go down again and again."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from faults_census import Census, census, left_behind, memory_left_behind, own
from faults_deployment import STEADY, Deployed, deployed
from faults_files import World
from faults_member import Member
from system_stack import Stack

CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE = 1, 2, 3, 4
UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = 1, 2, 3, 4
SHUTDOWN = {UNCONFIGURED: 5, INACTIVE: 6, ACTIVE: 7, FINALIZED: 7}
LEGAL = {
    (UNCONFIGURED, CONFIGURE): INACTIVE,
    (INACTIVE, ACTIVATE): ACTIVE,
    (INACTIVE, CLEANUP): UNCONFIGURED,
    (ACTIVE, DEACTIVATE): INACTIVE,
    (UNCONFIGURED, SHUTDOWN[UNCONFIGURED]): FINALIZED,
    (INACTIVE, SHUTDOWN[INACTIVE]): FINALIZED,
    (ACTIVE, SHUTDOWN[ACTIVE]): FINALIZED,
}
BRING_UPS = 2
NODE_CYCLES, FIRST_CYCLES = 5, 3
"""Of the nodes of one deployment; what libraries load and start once, they have after the first ones."""
COUNTED = ("processes", "threads", "descriptors")
WAYS = {
    (UNCONFIGURED, UNCONFIGURED): (),
    (UNCONFIGURED, INACTIVE): (CONFIGURE,),
    (UNCONFIGURED, ACTIVE): (CONFIGURE, ACTIVATE),
    (INACTIVE, UNCONFIGURED): (CLEANUP,),
    (INACTIVE, INACTIVE): (),
    (INACTIVE, ACTIVE): (ACTIVATE,),
    (ACTIVE, UNCONFIGURED): (DEACTIVATE, CLEANUP),
    (ACTIVE, INACTIVE): (DEACTIVATE,),
    (ACTIVE, ACTIVE): (),
}
"""The legal transitions that lead from one state to another."""


def executables(world: World) -> dict[str, tuple[str, list[str]]]:
    """Return for each node with a life cycle its full name and the words that start it, not configured."""
    skill = ["-p", f"skill:={world.folder / STEADY}"]
    return {
        "sim_bridge": ("/openral/sim_bridge", []),
        "policy_node": ("/openral/policy/policy", skill),
        "reward_monitor": ("/openral/reward_monitor", ["-p", f"skill:={world.reward}"]),
    }


@pytest.mark.parametrize("executable", ["sim_bridge", "policy_node", "reward_monitor"])
def test_only_legal_transitions_are_made(tmp_path: Path, figure: Any, executable: str) -> None:
    """Every transition from every state: the legal ones are made, the others change nothing, and the node lives."""
    world = World(tmp_path)
    world.turn(monitor="one")
    world.run_dir.mkdir()
    record, fresh_s = world.run_dir / "truth.npz", time.time() + 3600.0
    record.touch()
    os.utime(
        record, (fresh_s, fresh_s)
    )  # the reward model waits for a simulator that writes, however long this takes
    name, words = executables(world)[executable]
    words += ["-p", f"scene:={world.scene}", "-p", "autostart:=false"]
    tried = 0
    with mock.patch.dict("os.environ", world.environment):
        stack = Stack(tmp_path, "ros2", "run", "openral", executable, "--ros-args", *words)
        with stack, Member(stack) as member:
            at = UNCONFIGURED
            for state in (UNCONFIGURED, INACTIVE, ACTIVE):
                for transition in (CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE):
                    tried += 1
                    go(member, name, WAYS[at, state])
                    assert member.state_of(name) == state
                    wanted = LEGAL.get((state, transition))
                    assert member.change(name, transition) == (wanted is not None), (state, transition)
                    at = wanted or state
                    assert member.state_of(name) == at, (state, transition)
            go(member, name, WAYS[at, ACTIVE])
            assert not member.change(name, SHUTDOWN[INACTIVE]), "the shutdown of another state"
            assert member.change(name, SHUTDOWN[ACTIVE])
            assert member.state_of(name) == FINALIZED
            for transition in (CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE, SHUTDOWN[FINALIZED]):
                tried += 1
                assert not member.change(name, transition), transition
                assert member.state_of(name) == FINALIZED
            assert "Traceback" not in stack.output, stack.output
            stack.interrupt()
            stack.wait()
    figure(
        row=24,
        injected=f"each transition in each state of {executable}",
        times=tried + 2,
        happened="the legal ones were made, the others refused without a change",
        bar="only legal transitions",
    )


def go(member: Member, node: str, transitions: tuple[int, ...]) -> None:
    """Make legal transitions."""
    for transition in transitions:
        assert member.change(node, transition), f"{node}: transition {transition}"


def bring_up(world: World) -> Census:
    """Bring a light deployment up and down once; return what it held while it was up."""
    words = ("enable_reward_monitor:=false",)
    with deployed(world, *words) as up:
        up.operator.until_active(STEADY)
        up.operator.until(lambda: up.operator.missions, "the reasoner")
        held = census(up.stack.processes())
        assert held.processes >= 4
        up.stack.interrupt()
        code = up.stack.wait()
        assert code == 0, up.stack.output
        assert up.stack.errors == [], up.stack.errors
    assert left_behind(held) == []
    return held


def light(folder: Path) -> World:
    """Return a world with one skill without a model."""
    world = World(folder)
    world.scene = world.write_scene("light.yaml", skills=[str(folder / STEADY)])
    return world


def cycles(tmp_path: Path, count: int) -> list[Census]:
    """Bring up and shut down so many times; nothing may be left, neither of the nodes nor in this process."""
    world = light(tmp_path)
    held = [bring_up(world)]
    threads, descriptors = own()
    held += [bring_up(world) for _ in range(count - 1)]
    threads_now, descriptors_now = own()
    assert threads_now <= threads, f"{threads_now - threads} threads more after {count} deployments"
    assert len(descriptors_now) <= len(descriptors), f"{descriptors} became {descriptors_now}"
    return held


def record(figure: Any, injected: str, count: int) -> None:
    figure(
        row=25,
        injected=injected,
        times=count,
        happened="0 processes, threads, ports, descriptors, sockets left",
        worst=0,
        unit="left",
        bar="0 left",
    )


def test_deployments_come_and_go_and_leave_nothing(tmp_path: Path, figure: Any) -> None:
    """Zenoh removes what ended processes left in /dev/shm when the next process with a session starts."""
    held = cycles(tmp_path, BRING_UPS)
    record(figure, "bring-up and shutdown of bridge, policy node and reasoner", BRING_UPS)
    assert [memory_left_behind(ended) for ended in held[:-1]] == [[]] * (BRING_UPS - 1)
    left = memory_left_behind(held[-1])
    assert len(left) <= held[-1].processes
    figure(
        row=25,
        injected="a clean end of bridge, policy node and reasoner",
        times=BRING_UPS,
        happened="what was left of one deployment's shared memory was gone with the next",
        worst=float(len(left)),
        unit="segments until then",
        bar="0 left",
    )


def grown(before: Census, now: Census) -> list[str]:
    """Return what a deployment holds more of than before."""
    counts = [
        f"{name} {getattr(before, name)} became {getattr(now, name)}"
        for name in COUNTED
        if getattr(now, name) > getattr(before, name)
    ]
    return [*counts, *map(str, now.ports - before.ports), *sorted(now.files - before.files)]


def test_nodes_that_are_torn_down_and_set_up_again_hold_no_more_than_before(
    shared: Deployed, figure: Any
) -> None:
    """Bridge and policy node of a running deployment, from active to unconfigured and back."""
    errors = shared.stack.errors
    with Member(shared.stack) as member:

        def cycle(times: int) -> Census:
            for _ in range(times):
                for node in ("/openral/sim_bridge", f"/openral/policy/{STEADY}"):
                    go(member, node, (DEACTIVATE, CLEANUP, CONFIGURE, ACTIVATE))
            return census(shared.stack.processes())

        before = cycle(FIRST_CYCLES)
        cycle(NODE_CYCLES - FIRST_CYCLES)
        processes = shared.stack.processes()
        member.until(lambda: not grown(before, census(processes)), "threads, descriptors and ports as before")
        assert shared.stack.errors == errors
    shared.operator.until_active(STEADY)
    record(figure, "bridge and policy node unconfigured and activated again", NODE_CYCLES)


@pytest.mark.long
@pytest.mark.timeout(6 * 3600)
def test_a_thousand_deployments_leave_nothing(tmp_path: Path, figure: Any) -> None:
    cycles(tmp_path, 1000)
    record(figure, "bring-up and shutdown of bridge, policy node and reasoner", 1000)
