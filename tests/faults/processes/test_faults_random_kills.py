"""Any process of a deployment is killed at any instant of a mission; the mission ends, and what it says is true."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from faults_census import census, left_behind
from faults_deployment import NODES, Deployed, deployed, is_server, words_of
from faults_files import TASKS, World
from faults_truth import moved_while_holding
from system_operator import ENDED
from system_stack import wait_for

VICTIMS = (*NODES, "sidecar", "launcher")
MISSION = "open the drawer, then close it"
REACH_S = 9.0
"""[s] from the first sign of life within which a victim is killed; a mission takes six."""
FEW = len(VICTIMS)
"""Missions in each of which another victim is killed; the quick tests kill each of them once, at no random instant."""
MISSIONS = int(os.environ.get("FAULTS_KILLS", "500"))
"""Of the long half."""


def find(own: Deployed, victim: str) -> psutil.Process | None:
    """Return the process that is to be killed; None: it is not there at this instant."""
    for process in own.stack.processes():
        words = words_of(process)
        if victim == "launcher" and "deploy_sim.launch.py" in words:
            return process
        if victim == "sidecar" and is_server(process):
            return process
        if victim in words and "--ros-args" in words and "ros2_embedded.run" in words:
            return process
    return None


def run(folder: Path, victim: str, chance: random.Random) -> str:
    """Run a mission, kill a process in the middle of it, and see that the end is an honest one; return how it ended."""
    world = World(folder)
    with deployed(world, f"mission:={MISSION}", keep=False) as own:
        wait_for(lambda: find(own, "launcher"), "the launcher")
        time.sleep(chance.uniform(0.0, REACH_S))  # any instant; what is asserted depends on none
        process = find(own, victim)
        if process is not None:
            process.kill()
        held = census(own.stack.processes())
        wait_for(
            lambda: has_ended(own),
            lambda: f"the end of a mission without {victim}:\n{own.stack.output}",
            240.0,
        )
        asked = own.stack.running
        if asked:
            own.stack.interrupt()
        wait_for(lambda: not own.stack.running, "the launcher's end")
        wait_for(lambda: not own.stack.processes(), lambda: f"orphans of {victim}", 30.0)
        assert left_behind(held) == [], victim
        told = own.operator.missions[-1].state if own.operator.missions else "none"
    return judged(world.run_dir, victim, asked=asked, told=told)


def has_ended(own: Deployed) -> bool:
    """Whether the launch is over, or its mission is and somebody is asked."""
    missions = own.operator.missions
    return not own.stack.running or bool(missions and missions[-1].question)


def judged(run_dir: Path, victim: str, *, asked: bool, told: str) -> str:
    """Return how a mission ended; fail if its record says what the simulator's denies, or says nothing.

    Only with the launcher everything is gone at once: the record stays open then, and a reasoner that is started
    again in that folder takes the mission up.
    """
    truth_file, mission_file = run_dir / "truth.npz", run_dir / "mission.json"
    if truth_file.is_file():
        with np.load(truth_file) as archive:
            truth = {name: archive[name] for name in archive.files}
        assert moved_while_holding(truth) < 1e-9
        strangers = (~truth["held"] & (truth["goal"] == 0)).sum()
        assert strangers == 0, f"{strangers} steps without a goal"
    if not mission_file.is_file():
        return "no mission was begun"
    mission = json.loads(mission_file.read_text())
    if mission["state"] == "idle":  # the reasoner was up, and had not begun yet
        assert not mission["tasks"], mission
        return "no mission was begun"
    if mission["state"] == "done":
        assert truth_file.is_file(), "done, and no record"
        for task in mission["tasks"]:
            assert really_done(truth, task), f"called done and was not: {task}"
        return "done"
    if asked:
        return "asked"
    if mission["state"] in ENDED:
        assert mission["message"], mission
        return str(mission["state"])
    assert told != "done", (told, mission)
    assert victim == "launcher", (victim, mission["state"], mission["message"])
    return "open, to be taken up"


def really_done(truth: dict[str, Any], task: dict[str, Any]) -> bool:
    """Whether the simulator had the task solved at some instant of the last second before it was called done."""
    if task["state"] != "done":
        return task["state"] == "skipped"
    names = [str(name) for name in truth["tasks"]]
    column = names.index(TASKS[task["text"].replace("close it", "close the drawer")])
    stamps, ended = truth["stamp_s"], float(task["ended_s"])
    rows = (stamps >= ended - 1.0) & (stamps <= ended + 0.05)
    return bool(truth["success"][rows, column].any())


def kill_at_random(tmp_path: Path, count: int, seed: int) -> Counter[str]:
    """Run so many missions with a victim each, all victims in turn; return how they ended."""
    chance, ends = random.Random(seed), Counter[str]()
    victims = chance.sample(VICTIMS, len(VICTIMS))
    for index in range(count):
        folder = tmp_path / f"{index}"
        victim = victims[index % len(victims)]
        try:
            ends[run(folder, victim, chance)] += 1
        except AssertionError as error:
            raise AssertionError(f"mission {index} of seed {seed}, {victim} killed: {error}") from error
    return ends


def record(figure: Any, count: int, ends: Counter[str]) -> None:
    figure(
        row=31,
        injected="SIGKILL of any process at any instant of a mission",
        times=count,
        happened=", ".join(f"{number} {how}" for how, number in ends.most_common()),
        lost="at most the mission",
        worst=0,
        unit="lies, orphans or leaks",
        bar="0",
    )


@pytest.mark.long
@pytest.mark.timeout(600)
def test_kills_at_random_leave_no_lie_and_no_orphan(tmp_path: Path, figure: Any) -> None:
    record(figure, FEW, kill_at_random(tmp_path, FEW, seed=os.getpid()))


@pytest.mark.long
@pytest.mark.timeout(24 * 3600)
def test_five_hundred_missions_with_kills_at_random(tmp_path: Path, figure: Any) -> None:
    record(figure, MISSIONS, kill_at_random(tmp_path, MISSIONS, seed=15))
