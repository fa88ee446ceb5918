"""The driver of ros2_control in its own process against the twin: a controller manager and a trajectory controller."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import rclpy
from arm_scenes import read_arm_scene, write_arm_scene
from controller_manager_msgs.srv import SwitchController
from leading import STILL, hung, lead, wait_for, wait_until
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from twin_process import TwinProcess
from typer.testing import CliRunner

from openral_control.safety.joint_limits import limits_of
from openral_core.errors import UsageError
from openral_core.hardware.arm_mode import ArmMode
from openral_core.robot import load_robot
from openral_core.scene_arm import SceneArm
from openral_robot_bridge.commands import app
from openral_robot_bridge.driver import ArmError, TrajectoryPoint
from openral_robot_bridge.drivers.ros.recovery_action import error_recovery
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import load_arm_scene
from openral_robot_bridge.twins.trajectory_controller import FollowedTrajectory

DOMAIN = str(100 + os.getpid() % 130)
LIMITS = limits_of(load_robot("fr3"))
OFFSET = np.full(7, 0.05)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of the scene, with a driver that outwaits a busy machine: joint states may be two seconds late."""
    content = read_arm_scene("fr3_ros2_control")
    content["arm"]["ros2_control"]["states_timeout_s"] = 2.0
    content["arm"]["safety"] |= {"command_timeout_s": 2.0, "slow_start_s": 0.0}
    return str(write_arm_scene(tmp_path_factory.mktemp("scene"), content))


def connect(scene: str, **changes: object) -> ArmProcess:
    """Start the driver of a scene's arm; `changes` are fields of its section `ros2_control`."""
    arm = load_arm_scene(scene, DOMAIN).arm
    assert arm is not None
    names = {**arm.ros2_control.model_dump(), **changes}
    section = SceneArm.model_validate({**arm.model_dump(), "ros2_control": names})
    return ArmProcess(HostSettings(section, LIMITS, STILL))


@pytest.fixture(scope="module")
def twin(scene: str) -> Iterator[TwinProcess]:
    made = TwinProcess(scene, DOMAIN)
    yield made
    made.close()


@pytest.fixture(scope="module")
def connected(twin: TwinProcess, scene: str) -> Iterator[ArmProcess]:
    made = connect(scene)
    yield made
    made.close()


@pytest.fixture
def arm(connected: ArmProcess) -> ArmProcess:
    connected.recover()
    connected.release()
    return connected


def number(said: str, what: str) -> float:
    return float(dict(word.split("=") for word in said.split() if "=" in word)[what])


def test_joints_follow_within_their_limits_and_no_trajectory_is_refused(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    assert arm.info.versions["controller manager"] == "200 Hz"
    twin.tell("status")
    for offset in (3 * OFFSET, -3 * OFFSET):
        target = arm.read().positions + offset
        state = lead(arm, offset)
        assert state.mode is ArmMode.MOVING
        assert np.abs(state.positions - target).max() < 0.01
    said = twin.tell("status")
    assert number(said, "accepted") > 20
    assert number(said, "rejected") == 0
    assert 0.1 < number(said, "fastest") < LIMITS.velocity.min()


def test_external_torques_that_do_not_come_are_unknown_and_not_zero(arm: ArmProcess, scene: str) -> None:
    assert not arm.read().external_torques.any(), "this scene has no topic of them"
    deaf = connect(scene, external_torques="/torques_that_nobody_sends")
    try:
        assert np.isnan(deaf.read().external_torques).all()
    finally:
        deaf.close()


def test_an_arm_that_nobody_leads_comes_to_rest_even_when_its_driver_hangs(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    target = arm.read().positions + 0.3
    for _ in range(6):
        arm.lead(target, STILL, 0.5)
        time.sleep(0.05)
    with hung(arm.pid):
        wait_until(twin, "still")
    arm.halt()
    wait_until(twin, "still")
    wait_for(arm, lambda s: np.abs(s.velocities).max() < 0.01)
    arm.release()
    lead(arm, STILL)


def test_a_chunk_is_told_ahead_and_an_emergency_stop_ends_it(
    twin: TwinProcess, connected: ArmProcess, scene: str
) -> None:
    connected.recover()
    connected.release()
    arm = RobotArm(load_arm_scene(scene, DOMAIN), begin_anywhere=True, connect=lambda settings: connected)
    planned = [np.array([0.3, 0.2, 0.1, 0.0, 0.0, 0.0, -1.0])] * 40
    arm.set_lookahead(lambda: np.array(planned[arm_steps + 1 :]))
    before, began = number(twin.tell("status"), "accepted"), connected.read().positions
    for arm_steps in range(24):
        arm.beat()
        due = time.monotonic() + 0.05
        arm.step(planned[arm_steps])
        time.sleep(max(0.0, due - time.monotonic()))
    said = twin.tell("status")
    assert number(said, "accepted") - before <= 14, "each step was told by itself"
    assert number(said, "rejected") == 0
    assert np.abs(connected.read().positions - began).max() > 0.1
    arm.halt()
    wait_until(twin, "still")
    rests = connected.read().positions
    time.sleep(0.6)  # longer than what was told ahead
    assert np.abs(connected.read().positions - rests).max() < 0.005  # it would have led on by ten times that
    arm.release()


def test_a_controller_that_dies_is_a_fault_until_it_is_recovered(twin: TwinProcess, arm: ArmProcess) -> None:
    lead(arm, OFFSET)
    twin.tell("kill controller")
    fault = wait_for(arm, lambda s: s.mode is ArmMode.FAULT)
    assert "fr3_arm_controller is inactive; call the service recover of its deployment, or" in fault.faults[0]
    with pytest.raises(ArmError, match="inactive"):
        lead(arm, OFFSET)
    arm.recover()
    assert arm.read().mode in (ArmMode.IDLE, ArmMode.MOVING)
    target = arm.read().positions - OFFSET
    assert np.abs(lead(arm, -OFFSET).positions - target).max() < 0.01


def test_a_reflex_is_left_in_the_order_of_franka_ros2(twin: TwinProcess, arm: ArmProcess) -> None:
    twin.tell("reflex")
    arm.recover()
    assert "controller=active" in twin.tell("status")


def test_a_recovery_that_the_arm_gives_up_is_no_recovery(
    twin: TwinProcess, arm: ArmProcess, scene: str
) -> None:
    """franka_ros2 aborts the goal, as while the user stop is pressed."""
    context = rclpy.Context()
    context.init(domain_id=int(DOMAIN))
    node = rclpy.create_node("stopped_arm", context=context)
    kind = error_recovery()

    def give_up(handle: Any) -> Any:
        handle.abort()
        return kind.Result()

    server = ActionServer(node, kind, "/recovery_of_a_stopped_arm", give_up)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    try:
        with (
            closing(connect(scene, error_recovery="/recovery_of_a_stopped_arm")) as stopped,
            pytest.raises(ArmError, match="/recovery_of_a_stopped_arm did not recover the arm; release"),
        ):
            stopped.recover()
    finally:
        executor.shutdown()
        spinning.join(2.0)
        server.destroy()
        node.destroy_node()
        context.try_shutdown()


def test_a_trajectory_without_velocities_is_rejected_and_the_twin_goes_on(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    context = rclpy.Context()
    context.init(domain_id=int(DOMAIN))
    node = rclpy.create_node("another_client", context=context)
    try:
        publisher = node.create_publisher(JointTrajectory, "/fr3_arm_controller/joint_trajectory", 10)
        point = JointTrajectoryPoint(positions=STILL.tolist())
        point.time_from_start.sec = 1
        before, deadline = number(twin.tell("status"), "rejected"), time.monotonic() + 20.0
        while number(twin.tell("status"), "rejected") == before:
            assert time.monotonic() < deadline
            publisher.publish(JointTrajectory(joint_names=list(LIMITS.names), points=[point]))
            time.sleep(0.1)
    finally:
        node.destroy_node()
        context.shutdown()
    arm.recover()


def test_a_controller_that_another_client_deactivates_is_a_fault(twin: TwinProcess, arm: ArmProcess) -> None:
    context = rclpy.Context()
    context.init(domain_id=int(DOMAIN))
    node = rclpy.create_node("another_client", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        client = node.create_client(SwitchController, "/controller_manager/switch_controller")
        assert client.wait_for_service(20.0)
        answer = client.call_async(
            SwitchController.Request(deactivate_controllers=["fr3_arm_controller"], strictness=2)
        )
        executor.spin_until_future_complete(answer, 20.0)
        assert answer.result().ok
        wait_for(arm, lambda s: s.mode is ArmMode.FAULT)
    finally:
        node.destroy_node()
        context.shutdown()
    arm.recover()


def test_the_gripper_goes_where_it_is_told(arm: ArmProcess) -> None:
    for width in (0.02, 0.07):
        arm.grip(width, 0.1, 20.0)
        wait_for(arm, lambda s, width=width: abs(s.width_m - width) < 0.005)


def test_an_arm_whose_joint_states_stay_away_is_led_again_when_they_return(
    twin: TwinProcess, connected: ArmProcess, scene: str
) -> None:
    connected.recover()
    connected.release()
    arm = RobotArm(load_arm_scene(scene, DOMAIN), begin_anywhere=True, connect=lambda settings: connected)
    deadline = time.monotonic() + 60.0

    def step(action: np.ndarray) -> None:
        assert time.monotonic() < deadline
        due = time.monotonic() + 0.05
        arm.beat()
        arm.step(action)
        time.sleep(max(0.0, due - time.monotonic()))

    goes, stays = np.array([0.3, 0.2, 0.1, 0.0, 0.0, 0.0, -1.0]), np.array([0.0] * 6 + [-1.0])
    step(goes)
    twin.tell("silence on")
    try:
        while not arm.blocked_by:
            step(goes)
    finally:
        twin.tell("silence off")
    assert arm.blocked_by.startswith("fault: no joint states on /franka/joint_states for more than 2 s")
    while arm.blocked_by:
        step(stays)
    began = connected.read().positions
    while np.abs(connected.read().positions - began).max() < 0.05:
        step(goes)


def test_joint_states_without_positions_are_left_out(arm: ArmProcess) -> None:
    """A publisher that knows only velocities or efforts leaves the positions empty."""
    context = rclpy.Context()
    context.init(domain_id=int(DOMAIN))
    node = rclpy.create_node("only_velocities", context=context)
    try:
        publisher = node.create_publisher(JointState, "/franka/joint_states", 10)
        names, deadline = list(LIMITS.names), time.monotonic() + 20.0
        while not publisher.get_subscription_count():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for _ in range(10):
            publisher.publish(JointState(name=names, velocity=STILL.tolist()))
            publisher.publish(JointState(name=names, position=[1.0], velocity=STILL.tolist()))
            time.sleep(0.1)
            assert arm.read().positions.shape == (7,)
    finally:
        node.destroy_node()
        context.shutdown()


def test_what_a_joint_state_broadcaster_does_not_know_is_no_number_of_the_arm(
    twin: TwinProcess, arm: ArmProcess, scene: str
) -> None:
    """It sends NaN for interfaces that the hardware does not have, and until the hardware has measured."""
    context = rclpy.Context()
    context.init(domain_id=int(DOMAIN))
    node = rclpy.create_node("only_positions", context=context)
    publisher = node.create_publisher(JointState, "/only_positions", 10)
    names, unknown = [*LIMITS.names, "fr3_finger_joint1"], [math.nan] * 8
    gripper = {"action": "/franka_gripper/gripper_action", "joint": names[-1], "max_width_m": 0.08}
    ended = threading.Event()

    def send() -> None:
        for tick in itertools.count():
            if ended.wait(0.02):
                return
            message = JointState(name=names, position=[*(STILL + 0.01 * tick), math.nan], velocity=unknown)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(20_000_000 * tick, 10**9)
            publisher.publish(message)
            publisher.publish(JointState(name=names, position=unknown, velocity=unknown))

    sending = threading.Thread(target=send)
    sending.start()
    try:
        with closing(connect(scene, states="/only_positions", gripper=gripper)) as only_positions:
            time.sleep(0.2)
            state = only_positions.read()
        assert np.isfinite(state.positions).all()
        assert np.allclose(state.velocities, 0.5), "as the positions change"
        assert state.width_m == 0.08
    finally:
        ended.set()
        sending.join()
        node.destroy_node()
        context.shutdown()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"controller": "arm_controller"}, "has no controller arm_controller; it has fr3_arm_controller"),
        pytest.param(
            {"controller": "joint_state_broadcaster"},
            "is a joint_state_broadcaster/JointStateBroadcaster",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"gripper": {"action": "/nowhere", "joint": "fr3_finger_joint1", "max_width_m": 0.08}},
            "nobody offers the gripper's action /nowhere; start its controller, or correct",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_not_as_the_scene_says_is_named(
    twin: TwinProcess, scene: str, changes: dict[str, object], fault: str
) -> None:
    with pytest.raises(ArmError, match=fault):
        connect(scene, **changes)


@pytest.mark.long
def test_check_and_home_work_on_it(twin: TwinProcess, arm: ArmProcess, scene: str) -> None:
    begins = RobotArm(load_arm_scene(scene, DOMAIN), begin_anywhere=True, connect=lambda settings: arm).start
    lead(arm, begins + 0.1 - arm.read().positions)  # the way home is slow
    twin.tell("kill controller")
    stopped = CliRunner().invoke(app, ["check", scene, "--address", DOMAIN])
    assert stopped.exit_code == 1
    assert "is inactive" in stopped.output
    assert "200 Hz" in stopped.output
    recovered = CliRunner().invoke(app, ["recover", scene, "--address", DOMAIN])
    assert recovered.exit_code == 0, recovered.output
    home = CliRunner().invoke(app, ["home", scene, "--address", DOMAIN, "--yes"])
    assert home.exit_code == 0, home.output
    assert "the arm is at its start pose" in home.output


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from openral_robot_bridge.commands import app
verbs = (["check"], ["recover"], ["home", "--yes"])
done = [CliRunner().invoke(app, [verb, *sys.argv[1:], *yes]) for verb, *yes in verbs]
print(json.dumps([(one.exit_code, one.output + str(one.exception or "")) for one in done]))
"""


@pytest.mark.slow
def test_an_arm_on_humble_is_checked_recovered_and_led(scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twin and commands in processes with Humble's messages and keys; those of this process are Jazzy's."""
    monkeypatch.setenv("ROS_DISTRO", "humble")
    domain = str((int(DOMAIN) + 1) % 230)
    twin = TwinProcess(scene, domain)
    try:
        twin.tell("kill controller")
        command = [sys.executable, "-c", COMMANDS, scene, "--address", domain]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        checked, recovered, home = json.loads(done.stdout)
        assert checked[0] == 1, checked
        assert "is inactive" in checked[1]
        assert recovered[0] == 0, recovered
        assert home[0] == 0, home
        assert "the arm is at its start pose" in home[1]
        monkeypatch.delenv("ROS_DISTRO")
        other = CliRunner().invoke(app, ["check", scene, "--address", domain])
        assert "set ROS_DISTRO=humble here" in str(other.exception), "Jazzy's keys are others"
    finally:
        twin.close()


def test_an_address_that_is_no_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="is no ROS domain"):
        SceneArm.model_validate({"driver": "ros2_control", "address": "172.16.0.2"})


def test_a_twin_in_no_domain_is_told_in_one_line() -> None:
    error = CliRunner().invoke(app, ["twin", "fr3_ros2_control", "--address", "300"]).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith("--address 300: is no ROS domain; write the number")


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


def test_points_with_accelerations_are_passed_with_them() -> None:
    followed, still = FollowedTrajectory(np.zeros(1)), np.zeros(1)
    passed = TrajectoryPoint(0.5, np.array([0.1]), np.array([0.3]), np.array([-0.7]))
    assert followed.replace(1.0, [passed, TrajectoryPoint(1.0, np.array([0.2]), still, still)]) == ""
    for led, wanted in zip(followed.at(1.5), (0.1, 0.3, -0.7), strict=True):
        assert np.isclose(led[0], wanted)
    for moment in (1.2, 1.7):  # what is said of velocity and acceleration is the change of the positions
        before, here, after = (followed.at(moment + off) for off in (-1e-4, 0.0, 1e-4))
        assert np.isclose(here[1], (after[0] - before[0]) / 2e-4, atol=1e-5)
        assert np.isclose(here[2], (after[1] - before[1]) / 2e-4, atol=1e-4)
