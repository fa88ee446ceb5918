"""SIGINT and SIGTERM end every node with 0, and what it says at its end is heard."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from openral.msg import Mission, SkillInfo
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from system_stack import PATIENCE_S, end_with_the_tests, next_domain, wait_for

LATCHED = QoSProfile(depth=32, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NODES = {
    "openral_sim_bridge.ros.bridge_node": {"scene": "metaworld_drawer"},
    "openral_policy_nodes.ros.policy_node": {"scene": "metaworld_drawer", "skill": "mini-metaworld"},
    "openral_policy_nodes.ros.motion_node": {"scene": "metaworld_drawer"},
    "openral_reward_monitor.ros.monitor_node": {"scene": "metaworld_drawer", "skill": "mini-progress"},
    "openral_perception.ros.locator_node": {"scene": "metaworld_drawer", "skill": "mini-detector"},
}
NODES_SEEN = ("sim_bridge", "policy", "motions", "reward_monitor", "locator")
REASONER = "openral_reasoner.ros.reasoner_node"
HOSTS = ("/openral/policy/policy", "/openral/motions")
READY = ("metaworld at 80 Hz", "is loaded", "motions: home", "watches camera", "locates words")
"""What the nodes say when they are there."""


class Listener:
    """Keeps the newest state of the mission, and of each node that hosts skills."""

    def __init__(self, domain: int) -> None:
        self.mission, self.states = "", dict[str, str]()
        self._context = rclpy.Context()
        self._context.init(domain_id=domain)
        self._node = rclpy.create_node("listener", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._node.create_subscription(Mission, "/openral/mission", self._on_mission, LATCHED)
        self._node.create_subscription(SkillInfo, "/openral/skills", self._on_skill, LATCHED)

    def _on_mission(self, mission: Mission) -> None:
        self.mission = mission.state

    def _on_skill(self, info: SkillInfo) -> None:
        self.states[info.node] = info.state

    def spin_until(self, condition: Callable[[], object], what: Callable[[], str]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, what()
            self._executor.spin_once(timeout_sec=0.05)

    def nodes(self) -> list[str]:
        return self._node.get_node_names()

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()


class Deployment:
    """One process of each node on a domain of its own; the reasoner is started by itself."""

    def __init__(self, folder: Path) -> None:
        self.domain = next_domain()
        self._folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for module, parameters in NODES.items():
            self.start(module, parameters)

    def start(self, module: str, parameters: dict[str, str]) -> None:
        command = [sys.executable, "-m", module, "--ros-args"]
        command += [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
        with (self._folder / f"{module}.txt").open("w") as log:
            self.processes[module] = subprocess.Popen(
                command,
                env={**os.environ, "ROS_DOMAIN_ID": str(self.domain), "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_the_tests,
            )

    def log(self) -> str:
        return "\n".join(f"{path.stem}:\n{path.read_text()}" for path in sorted(self._folder.glob("*.txt")))

    def signal(self, number: signal.Signals) -> None:
        for process in self.processes.values():
            process.send_signal(number)

    def codes(self) -> dict[str, int | None]:
        """Exit codes, when all have ended."""
        processes = self.processes.values()
        wait_for(
            lambda: all(process.poll() is not None for process in processes),
            lambda: f"the ends: {[process.poll() for process in processes]}\n{self.log()}",
        )
        return {module: process.returncode for module, process in self.processes.items()}

    def close(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    deployment = Deployment(tmp_path)
    yield deployment
    deployment.close()


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
    ],
    ids=["SIGINT", "SIGTERM"],
)
def test_every_node_ends_with_0_and_says_so(deployment: Deployment, number: signal.Signals) -> None:
    listener = Listener(deployment.domain)

    def said() -> str:
        return f"{listener.mission} {listener.states}\n{deployment.log()}"

    try:
        listener.spin_until(lambda: all(words in deployment.log() for words in READY), said)
        deployment.start(REASONER, {"scene": "metaworld_drawer", "mission": "open the drawer"})
        listener.spin_until(lambda: listener.mission == "active", said)
        assert {listener.states[node] for node in HOSTS} == {"active"}
        deployment.signal(number)
        ended = {"mission": "stopped", **dict.fromkeys(HOSTS, "finalized")}
        listener.spin_until(lambda: {"mission": listener.mission, **listener.states} == ended, said)
    finally:
        listener.close()
    codes = deployment.codes()
    assert set(codes.values()) == {0}, f"{codes}\n{deployment.log()}"
    assert "Traceback" not in deployment.log(), deployment.log()


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)], ids=["SIGINT", "SIGTERM"]
)
def test_nodes_that_are_still_starting_end_with_0(deployment: Deployment, number: signal.Signals) -> None:
    """From when they are seen on, which is before they have loaded anything."""
    listener = Listener(deployment.domain)
    for process, node in zip(deployment.processes.values(), NODES_SEEN, strict=True):
        listener.spin_until(lambda node=node: node in listener.nodes(), deployment.log)
        process.send_signal(number)
    listener.close()
    codes = deployment.codes()
    assert set(codes.values()) == {0}, f"{codes}\n{deployment.log()}"
