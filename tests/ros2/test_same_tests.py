"""openral's own tests of nodes and of whole missions, from the installed package, on a real rclpy over Fast DDS."""

from __future__ import annotations

import subprocess

import pytest
from real_ros2 import ROOT, RealRos2

FILES = (
    "tests/control/test_messages.py",
    "tests/reasoner/ros/test_lifecycle.py",
    "tests/reasoner/ros/test_skill_clients.py",
    "tests/reasoner/mission/test_stopped_goals.py",
    "tests/reasoner/ros/test_reasoner_node.py",
    "tests/reasoner/ros/test_stop_processes.py",
    "tests/policy_nodes/test_policy_node.py",
    "tests/reward_monitor/test_monitor_node.py",
    "tests/perception/test_locator_node.py",
    "tests/sim_bridge/test_bridge_estop.py",
    "tests/sim_bridge/test_bridge_node.py",
    "tests/console/test_console_door.py",
    "tests/system/processes/test_system_node_endings.py",
    "tests/system/processes/test_system_lost_nodes.py",
    "tests/system/missions/test_system_missions.py",
    "tests/system/processes/test_system_interrupts.py",
    "tests/system/stops/test_system_estop.py",
    "tests/system/arms/test_system_robot.py",
    "tests/system/arms/test_system_robot_shadow.py",
)
"""Of single nodes, of their ends, and of deployments, one with an arm's twin in place of the simulator."""
LIMIT_S = 1200
"""[s] How long one file may take."""


@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("which", ["quick", "slow"])
@pytest.mark.parametrize("file", FILES)
def test_on_the_real_runtime(real: RealRos2, file: str, which: str) -> None:
    command = [str(real.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", file]
    done = subprocess.run(
        [*command, "--slow"] if which == "slow" else command,
        cwd=ROOT,
        env=real.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        pytest.skip(f"{file} has no {which} tests")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout
