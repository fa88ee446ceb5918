"""The driver of ros2_control in its own process against the twin: a controller manager and a trajectory controller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from openral_control.safety.arm_limits import limits_of
from openral_core.arm_section import SceneArm
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_robot_bridge.commands import app
from openral_robot_bridge.driver import ArmError, ArmMode, ArmState
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.twins.trajectory import FollowedTrajectory, TrajectoryPoint

SCENE = "fr3_ros2_control"
DOMAIN = str(100 + os.getpid() % 130)
LIMITS = limits_of(load_robot("fr3"))
STILL = np.zeros(7)


class Twin:
    """`openral robot twin` in a ROS domain of its own."""

    def __init__(self) -> None:
        command = [Path(sys.executable).with_name("openral"), "robot", "twin", SCENE, "--address", DOMAIN]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._line().startswith("ready")

    def tell(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        return self._line()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def section(**changes: object) -> SceneArm:
    arm = load_scene(SCENE).arm
    assert arm is not None
    names = {**arm.ros2_control.model_dump(), **changes}
    return SceneArm.model_validate({**arm.model_dump(), "address": DOMAIN, "ros2_control": names})


def connect(**changes: object) -> ArmProcess:
    return ArmProcess(HostSettings(section(**changes), LIMITS, STILL))


@pytest.fixture(scope="module")
def twin() -> Iterator[Twin]:
    made = Twin()
    yield made
    made.close()


@pytest.fixture(scope="module")
def connected(twin: Twin) -> Iterator[ArmProcess]:
    made = connect()
    yield made
    made.close()


@pytest.fixture
def arm(connected: ArmProcess) -> ArmProcess:
    connected.recover()
    connected.release()
    return connected


def lead(arm: ArmProcess, offset: float, seconds: float = 0.8) -> ArmState:
    """Lead all joints by an offset [rad] within about `seconds`, and wait until they are there."""
    target, began = arm.read().positions + offset, time.monotonic()
    while True:
        gone = time.monotonic() - began
        state = arm.lead(target, STILL, max(0.05, seconds - gone))
        if np.abs(state.positions - target).max() < 0.01 or gone > 20.0:
            return state
        time.sleep(0.05)


def until_still(twin: Twin) -> str:
    due = time.monotonic() + 20.0
    while not (said := twin.tell("status")).startswith("still"):
        assert time.monotonic() < due, said
        time.sleep(0.05)
    return said


def number(said: str, what: str) -> float:
    return float(dict(word.split("=") for word in said.split() if "=" in word)[what])


def test_joints_follow_within_their_limits_and_no_trajectory_is_refused(twin: Twin, arm: ArmProcess) -> None:
    assert arm.info.versions["controller manager"] == "200 Hz"
    twin.tell("status")
    for offset in (0.15, -0.15):
        target = arm.read().positions + offset
        state = lead(arm, offset)
        assert state.mode is ArmMode.MOVING
        assert np.abs(state.positions - target).max() < 0.01
    said = twin.tell("status")
    assert number(said, "accepted") > 20
    assert number(said, "rejected") == 0
    assert 0.1 < number(said, "fastest") < LIMITS.velocity.min()


def until_read(arm: ArmProcess) -> None:
    """Wait until a driver that was held up has states of the present again."""
    due = time.monotonic() + 10.0
    while True:
        try:
            arm.read()
            return
        except ArmError:
            assert time.monotonic() < due
            time.sleep(0.02)


def test_an_arm_that_nobody_leads_comes_to_rest_even_when_its_driver_hangs(
    twin: Twin, arm: ArmProcess
) -> None:
    target = arm.read().positions + 0.3
    for _ in range(6):
        arm.lead(target, STILL, 0.5)
        time.sleep(0.05)
    os.kill(arm.pid, signal.SIGSTOP)
    try:
        until_still(twin)
    finally:
        os.kill(arm.pid, signal.SIGCONT)
    arm.halt()
    until_still(twin)
    until_read(arm)
    arm.release()
    lead(arm, 0.0)


def test_a_controller_that_dies_is_a_fault_until_it_is_recovered(twin: Twin, arm: ArmProcess) -> None:
    lead(arm, 0.05)
    twin.tell("kill controller")
    due = time.monotonic() + 10.0
    while arm.read().mode is not ArmMode.FAULT:
        assert time.monotonic() < due
        time.sleep(0.02)
    assert "fr3_arm_controller is inactive" in arm.read().faults[0]
    with pytest.raises(ArmError, match="inactive"):
        lead(arm, 0.05)
    arm.recover()
    assert arm.read().mode in (ArmMode.IDLE, ArmMode.MOVING)
    target = arm.read().positions - 0.05
    assert np.abs(lead(arm, -0.05).positions - target).max() < 0.01


def test_a_reflex_is_left_in_the_order_of_franka_ros2(twin: Twin, arm: ArmProcess) -> None:
    twin.tell("reflex")
    arm.recover()
    assert "controller=active" in twin.tell("status")


def test_the_gripper_goes_where_it_is_told(arm: ArmProcess) -> None:
    for width in (0.02, 0.07):
        arm.grip(width, 0.1, 20.0)
        due = time.monotonic() + 10.0
        while abs(arm.read().width_m - width) > 0.005:
            assert time.monotonic() < due, arm.read().width_m
            time.sleep(0.05)


def test_joint_states_that_stop_are_told(twin: Twin, arm: ArmProcess) -> None:
    twin.tell("silence on")
    try:
        time.sleep(0.5)
        with pytest.raises(ArmError, match="no joint states on /franka/joint_states"):
            arm.read()
    finally:
        twin.tell("silence off")
    time.sleep(0.5)
    assert arm.read().mode in (ArmMode.IDLE, ArmMode.MOVING)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"controller": "arm_controller"}, "has no controller arm_controller; it has fr3_arm_controller"),
        ({"controller": "joint_state_broadcaster"}, "is a joint_state_broadcaster/JointStateBroadcaster"),
    ],
)
def test_what_is_not_as_the_scene_says_is_named(twin: Twin, changes: dict[str, object], fault: str) -> None:
    with pytest.raises(ArmError, match=fault):
        connect(**changes)


def test_check_and_home_work_on_it(twin: Twin) -> None:
    twin.tell("kill controller")
    stopped = CliRunner().invoke(app, ["check", SCENE, "--address", DOMAIN])
    assert stopped.exit_code == 1
    assert "is inactive" in stopped.output
    assert "200 Hz" in stopped.output
    recovered = CliRunner().invoke(app, ["recover", SCENE, "--address", DOMAIN])
    assert recovered.exit_code == 0, recovered.output
    home = CliRunner().invoke(app, ["home", SCENE, "--address", DOMAIN, "--yes"])
    assert home.exit_code == 0, home.output
    assert "the arm is at its start pose" in home.output


def test_an_address_that_is_no_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="is no ROS domain"):
        SceneArm.model_validate({"driver": "ros2_control", "address": "172.16.0.2"})


def test_a_trajectory_is_followed_from_where_the_joints_are_led() -> None:
    followed = FollowedTrajectory(np.zeros(2))
    there, speed = np.array([1.0, -1.0]), np.array([2.0, -2.0])
    points = [TrajectoryPoint(1.0, there, speed), TrajectoryPoint(1.5, there + 0.25 * speed, np.zeros(2))]
    assert followed.replace(10.0, points) == ""
    assert np.allclose(followed.at(11.0)[0], there)
    assert np.allclose(followed.at(11.0 - 1e-6)[1], speed, atol=1e-4)
    before = followed.at(10.6)
    assert followed.replace(10.6, [TrajectoryPoint(0.5, there, np.zeros(2))]) == ""
    assert np.allclose(followed.at(10.6)[0], before[0])
    assert np.allclose(followed.at(10.6)[1], before[1])
    assert np.allclose(followed.at(99.0)[0], there)
    assert "ends with a velocity" in followed.replace(11.0, [TrajectoryPoint(0.5, there, speed)])
    assert "do not rise" in followed.replace(11.0, [TrajectoryPoint(0.0, there, 0 * speed)])
    assert "no points" in followed.replace(11.0, [])
