"""The real libfranka, by franky-control in the driver's own process, against the twin of an FR3 on loopback."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fci_faults import lose_commands, name_every_reflex, reflex_in_motion, user_stop_in_motion
from leading import (
    STILL,
    follow_and_rest,
    hung,
    kill_driver,
    lead,
    wait_for,
    wait_until,
)
from twin_process import TwinProcess

from openral_control.safety.joint_limits import limits_of
from openral_core.hardware.arm_mode import ArmMode
from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_core.scene_arm import SafetyLimits, SceneArm
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.homing import go_home
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.robot_arm import RobotArm

Scenes = Callable[..., DeployScene]
LIMITS = limits_of(load_robot("fr3"))
START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])
"""[rad] where the scene begins."""


def connect(address: str) -> ArmProcess:
    safety = SafetyLimits(command_timeout_s=0.3)
    return ArmProcess(HostSettings(SceneArm(driver="franka", address=address, safety=safety), LIMITS, STILL))


@pytest.fixture(scope="module")
def connected(twin: TwinProcess) -> Iterator[ArmProcess]:
    made = connect(twin.address)
    yield made
    made.close()


@pytest.fixture
def arm(connected: ArmProcess) -> ArmProcess:
    """The arm, idle."""
    connected.halt()
    connected.release()
    time.sleep(0.1)
    connected.recover()
    wait_for(connected, lambda s: s.mode is ArmMode.IDLE)
    return connected


def test_the_arm_says_who_it_is(arm: ArmProcess) -> None:
    assert arm.info.max_width_m == pytest.approx(0.08, abs=1e-3)
    assert arm.info.limits.high == pytest.approx([2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196])
    assert arm.info.limits.deceleration == pytest.approx([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0])
    assert (arm.limits.high == LIMITS.high).all()
    assert arm.read().mode is ArmMode.IDLE


def test_joints_follow_and_come_to_rest_when_nobody_leads_them(arm: ArmProcess) -> None:
    follow_and_rest(arm, np.array([0.2, 0.0, 0.0, 0.1, 0.0, -0.1, 0.2]))


def test_reflexes_have_libfrankas_names(twin: TwinProcess, arm: ArmProcess) -> None:
    name_every_reflex(twin, arm)


def test_a_reflex_ends_a_motion_until_it_is_recovered_from(twin: TwinProcess, arm: ArmProcess) -> None:
    reflex_in_motion(twin, arm)


def test_the_user_stop_ends_a_motion_and_is_named(twin: TwinProcess, arm: ArmProcess) -> None:
    user_stop_in_motion(twin, arm, None)


def test_lost_commands_are_borne_up_to_twenty(twin: TwinProcess, arm: ArmProcess) -> None:
    lose_commands(twin, arm)


def test_a_driver_that_hangs_ends_in_a_reflex_and_the_arm_holds(twin: TwinProcess, arm: ArmProcess) -> None:
    lead(arm, STILL)
    with hung(arm.pid):
        wait_until(twin, "reflex")
    wait_for(arm, lambda s: s.faults == ("communication_constraints_violation",))
    arm.recover()


def test_the_twins_world_is_reset_while_its_arm_rests(arm: ArmProcess, twin: TwinProcess) -> None:
    lead(arm, np.array([0.2, 0.0, 0.0, 0.1, 0.0, -0.1, 0.2]))
    assert twin.tell("state 3") == "the arm is being moved; end its motion first\n"
    arm.halt()
    wait_for(arm, lambda s: s.mode is ArmMode.IDLE)
    assert twin.tell("state 3") == "state 3\n"
    state = wait_for(arm, lambda s: np.abs(s.positions - START).max() < 0.01)
    assert state.mode is ArmMode.IDLE
    assert twin.tell("judge") == "not done\n"


def test_an_address_without_an_arm_is_named(twin: TwinProcess) -> None:
    with pytest.raises(ArmError, match=r"127\.250\.250\.250 cannot be used: .*; is it switched on"):
        connect("127.250.250.250")


@pytest.mark.long
def test_home_and_then_actions_move_the_twin(arm: ArmProcess, twin: TwinProcess, scene_with: Scenes) -> None:
    away = START + np.array([0.3, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    lead(arm, away - arm.read().positions, 2.0)
    arm.close()  # one client at a time
    scene = scene_with("franka", twin.address, slow_start_s=0.0, hold_to_run=False)
    said: list[str] = []
    go_home(scene, said.append)
    assert "the arm is at its start pose" in said[0]
    moved = RobotArm(scene)
    try:
        assert moved.refusal == ""
        before = moved.robot_state().ee_position
        action = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, -1.0])
        for step in range(50):
            due = time.monotonic() + scene.dt
            moved.step(action if step < 10 else np.array([*np.zeros(6), -1.0]))
            time.sleep(max(0.0, due - time.monotonic()))
        way = moved.robot_state().ee_position - before
    finally:
        moved.close()
    # The twin's time may be slower than the wall's, and the set point stays on its leash to the hand: less than 10 cm.
    assert 0.02 < way[2] < 0.14
    assert np.abs(way[:2]).max() < 0.02


@pytest.mark.slow
def test_a_bridge_that_is_killed_leaves_an_arm_that_comes_to_rest_by_itself(twin: TwinProcess) -> None:
    away = connect(twin.address)
    lead(away, START + np.array([0.8, 0, 0, 0, 0, 0, 0]) - away.read().positions, 2.0)
    away.close()
    command = [Path(sys.executable).with_name("openral"), "robot", "home", "fr3_tabletop", "--yes"]
    bridge = subprocess.Popen([*command, "--address", twin.address], stdout=subprocess.DEVNULL)
    wait_until(twin, "move")
    time.sleep(0.5)
    bridge.kill()
    bridge.wait()
    wait_until(twin, "idle")


def test_a_driver_that_is_killed_leaves_an_arm_that_holds(twin: TwinProcess, arm: ArmProcess) -> None:
    kill_driver(twin, arm)
