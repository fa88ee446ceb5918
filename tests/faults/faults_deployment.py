"""A running deployment of the mock world with its operator, whose end is guaranteed, and the one that tests share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import psutil
import pytest
from faults_files import World
from system_files import load_truth
from system_operator import ENDED, Operator
from system_stack import Stack, wait_for

SERVED, STEADY = "served", "steady"
"""The skills: one whose model is a sidecar, and one that moves the hand along x for ever."""
NODES = ("sim_bridge", "policy_node", "reward_monitor", "reasoner")


class Deployed:
    """The stack, its operator and its world."""

    def __init__(self, world: World, stack: Stack, operator: Operator) -> None:
        self.world, self.stack, self.operator = world, stack, operator

    @property
    def status(self) -> Any:
        """The bridge's newest words."""
        return self.operator.status[-1]

    def node_of(self, slug: str) -> psutil.Process:
        """The process of one policy node."""
        found: list[psutil.Process] = []

        def look() -> bool:
            found[:] = [p for p in self.stack.processes() if f"__node:={slug}" in words_of(p)]
            return bool(found)

        wait_for(look, f"the process of the policy node {slug}")
        return found[0]

    def launcher(self) -> psutil.Process:
        """The process of `ros2 launch`."""
        [found] = [p for p in self.stack.processes() if "deploy_sim.launch.py" in words_of(p)]
        return found

    def sidecar(self) -> psutil.Process:
        """The server process of the served skill: the child that serves, not the guard beside it."""
        found: list[psutil.Process] = []

        def look() -> bool:
            found[:] = [p for p in self.stack.processes() if is_server(p)]
            return bool(found)

        wait_for(look, "the sidecar's process")
        return found[0]

    def mission(self, words: str) -> Any:
        """Say something and return the mission's last state."""
        operator, known = self.operator, {mission.id for mission in self.operator.missions}
        operator.say(words)
        operator.until(lambda: self._ended(known), f"the end of the mission {words!r}")
        return operator.missions[-1]

    def _ended(self, known: set[str]) -> bool:
        last = self.operator.missions[-1]
        return last.id not in known and (last.state in ENDED or bool(last.question))

    def truth(self) -> dict[str, np.ndarray]:
        """The simulator's record so far."""
        return load_truth(self.world.run_dir)

    def until_recorded(self) -> dict[str, np.ndarray]:
        """Return the record once it has what the bridge has done until now."""
        stamp = self.status.header.stamp
        now_s, path = stamp.sec + stamp.nanosec * 1e-9, self.world.run_dir / "truth.npz"
        self.operator.until(lambda: path.is_file() and self.truth()["stamp_s"][-1] >= now_s, "the record")
        return self.truth()

    def rest_after(self, handle: Any) -> None:
        """Cancel a goal, and wait until nothing moves."""
        handle.cancel_goal_async()
        self.operator.until(handle.get_result_async().done, "the goal's end")
        self.rest()

    def rest(self) -> None:
        """Turn all faults off, end what runs, and wait until nothing moves."""
        self.world.turn()
        if self.status.estopped:
            self.operator.press("/openral/estop_reset")
        if self.operator.missions and self.operator.missions[-1].state not in (*ENDED, "idle"):
            self.operator.say("stop")
            self.operator.until(lambda: self.operator.missions[-1].state in (*ENDED, "idle"), "no mission")
        self.operator.until(lambda: self.status.holding and not self.status.active_goal, "an arm at rest")


def words_of(process: psutil.Process) -> list[str]:
    """The command line of a process; empty when it is gone."""
    with contextlib.suppress(psutil.Error):
        return list(process.cmdline())
    return []


def is_server(process: psutil.Process) -> bool:
    """Whether a process is the sidecar's server: a policy node is its parent."""
    if "faults_sidecar" not in words_of(process):
        return False
    with contextlib.suppress(psutil.Error):
        parent = process.parent()
        return parent is not None and "faults_sidecar" not in words_of(parent)
    return False


@contextlib.contextmanager
def deployed(world: World, *arguments: str, keep: bool = True) -> Iterator[Deployed]:
    """Launch a world's deployment; whatever happens in the block, nothing of it is left afterwards.

    Args:
        world: what it runs.
        arguments: further arguments of the launch file.
        keep: the deployment outlives its missions.
    """
    words = [f"scene:={world.scene}", f"run_dir:={world.run_dir}", "memory_file:="]
    words += [f"exit_when_done:={str(not keep).lower()}", *arguments]
    with mock.patch.dict("os.environ", world.environment):
        stack = Stack(world.folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *words)
        with stack, Operator(stack) as operator:
            yield Deployed(world, stack, operator)


class Keeper:
    """Keeps one deployment for all tests that do not end it, and starts another where one did."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._open = contextlib.ExitStack()
        self._deployed: Deployed | None = None

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; the next test that asks for one gets another."""
        self._open.close()
        self._deployed = None

    def get(self) -> Deployed:
        """Return a deployment that is up."""
        if self._deployed is None or not self._deployed.stack.running:
            self._open.close()
            folder: Path = self._factory.mktemp("shared")
            self._deployed = self._open.enter_context(deployed(World(folder)))
            self._deployed.operator.until_active(SERVED, STEADY)
            self._deployed.operator.until(lambda: self._up().operator.missions, "the reasoner")
        return self._deployed

    def rest(self) -> None:
        """Bring it to rest after a test, or give it up."""
        try:
            self._up().rest()
        except AssertionError:
            self.close()

    def _up(self) -> Deployed:
        assert self._deployed is not None
        return self._deployed
