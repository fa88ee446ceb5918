"""From actions to an arm that does what it is told: what is led, what holds it, and what ends it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.control_loop import ControlLoop, LoopSettings
from openral_control.envelope import Envelope
from openral_core.errors import ManifestError
from openral_core.hardware.arm_mode import ArmMode
from openral_core.process.announcements import is_announcement
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_core.types import RobotState
from openral_robot_bridge.arm_bridge import ArmBridgeOptions, DeployedArm
from openral_robot_bridge.driver import ArmError, ArmState
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.robot_arm import RobotArm, StepReport

Scenes = Callable[..., DeployScene]
UP = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, -1.0])
"""1 cm a control step."""
STAY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0])


@pytest.fixture
def reports() -> list[StepReport]:
    return []


@pytest.fixture
def arm(scene_with: Scenes, reports: list[StepReport]) -> Iterator[RobotArm]:
    made = RobotArm(scene_with("fake", slow_start_s=0.0, hold_to_run=False), report=reports.append)
    yield made
    made.close()


def drive(arm: RobotArm, action: np.ndarray, steps: int, *, beat: bool = False) -> float:
    """Step in real time; return the hand's height [m]."""
    for _ in range(steps):
        if beat:
            arm.beat()
        due = time.monotonic() + 1.0 / arm.control_hz
        arm.step(action)
        time.sleep(max(0.0, due - time.monotonic()))
    return float(arm.robot_state().ee_position[2])


def at_rest(arm: RobotArm) -> np.ndarray:
    """Wait until the arm stands, and return where, (7,) [rad]."""
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        state = arm.process.read()
        if np.abs(state.velocities).max() < 1e-6:
            return np.array(state.positions)
        time.sleep(0.01)
    raise AssertionError("the arm still moves after 10 s")


def test_actions_lead_the_hand_as_they_do_in_simulation(scene_with: Scenes) -> None:
    # On a busy machine a step may come later than after the usual 0.1 s, at which the arm would come to rest.
    scene = scene_with("fake", slow_start_s=0.0, hold_to_run=False, command_timeout_s=5.0)
    with closing(RobotArm(scene)) as arm:
        before = float(arm.robot_state().ee_position[2])
        drive(arm, UP, 10)
        height = drive(arm, STAY, 20)
        assert height - before == pytest.approx(0.1, abs=0.03)
        assert arm.stopped_by == ""


def test_an_arm_that_is_told_nothing_new_comes_to_rest(arm: RobotArm, reports: list[StepReport]) -> None:
    drive(arm, UP, 10)
    assert np.abs(reports[-1].target.velocities).max() > 0.01
    stopped = at_rest(arm)
    led = reports[-1].target
    braked = led.positions + led.velocities * np.abs(led.velocities) / arm.process.limits.acceleration
    assert np.abs(stopped - braked).max() < 0.05


def test_after_a_silence_the_motion_goes_on_from_where_the_arm_rests(
    arm: RobotArm, reports: list[StepReport]
) -> None:
    drive(arm, UP, 10)
    led = reports[-1].target
    assert np.abs(led.velocities).max() > 0.01
    stopped = at_rest(arm)
    arm.step(STAY)
    assert np.abs(reports[-1].target.positions - stopped).max() < 1e-6
    assert np.abs(reports[-1].target.velocities).max() < 1e-6


def test_a_halt_ends_the_motion_until_it_is_released(arm: RobotArm) -> None:
    drive(arm, UP, 10)
    arm.halt()
    stopped = at_rest(arm)
    drive(arm, UP, 5)
    assert arm.stopped_by == "emergency stop"
    assert np.allclose(arm.process.read().positions, stopped, atol=1e-6)
    arm.release()
    drive(arm, UP, 20)
    assert np.abs(arm.process.read().positions - stopped).max() > 0.01


def test_an_arm_that_is_found_with_something_in_its_hand_keeps_it_until_a_goal_moves_the_fingers(
    arm: RobotArm,
) -> None:
    """As after a bridge that broke down in the middle of a task."""
    arm.process.grip(0.03, 0.1, 30.0)
    for _ in range(3):
        arm.step(arm.hold_action(None))
    assert arm.process.read().width_m == 0.03
    arm.step(STAY)
    assert arm.process.read().width_m == 0.08
    arm.process.grip(0.03, 0.1, 30.0)
    arm.recover()
    arm.step(arm.hold_action(None))
    assert arm.process.read().width_m == 0.08, "which it was told last"


def test_a_recovered_arm_keeps_what_its_gripper_holds(arm: RobotArm) -> None:
    closing = STAY.copy()
    closing[-1] = 1.0
    arm.step(closing)
    assert arm.process.read().width_m == 0.0
    arm.recover()
    arm.step(arm.hold_action(None))  # a control loop has no last action after the recovery

    assert arm.process.read().width_m == 0.0


def test_what_is_led_at_the_moment_of_a_halt_is_not_followed(arm: RobotArm) -> None:
    start = arm.process.read().positions
    arm.process.halt()
    arm.process.lead(start + 0.1, np.zeros(7), 0.05)
    time.sleep(0.2)
    assert np.array_equal(arm.process.read().positions, start)
    assert arm.process.read().mode is ArmMode.IDLE


def test_the_control_loop_moves_it_by_chunks_and_the_stop_ends_that(
    arm: RobotArm, scene_with: Scenes
) -> None:
    scene = scene_with("fake")
    envelope = Envelope(scene, load_robot(scene.robot_id))
    representation = scene.action.representation
    executor = ChunkExecutor(scene.control_hz, envelope, arm.hold_action, representation=representation)
    sink = NoSink()
    loop = ControlLoop(arm, executor, sink, LoopSettings({}), arm.robot_state())
    before = float(arm.robot_state().ee_position[2])
    data = np.tile(UP.astype(np.float32), 10).ravel()
    loop.post(Chunk(loop.now_s, "a" * 32, "skill", "up", representation, 0, 10, 7, scene.dt, data))
    end = time.monotonic() + 20.0
    loop.run(lambda: executor.counters.held < 10 and time.monotonic() < end)
    assert executor.counters.executed >= 8
    assert float(arm.robot_state().ee_position[2]) - before > 0.05
    executor.stop()
    arm.halt()
    loop.post(Chunk(loop.now_s, "b" * 32, "skill", "up", representation, 1, 10, 7, scene.dt, data))
    held = executor.counters.held
    loop.run(lambda: executor.counters.held < held + 5 and time.monotonic() < end)
    assert arm.stopped_by == "emergency stop"
    assert "the emergency stop is latched" in sink.refusals[-1]


class NoSink:
    """Remembers refusals; the rest is nobody's."""

    def __init__(self) -> None:
        self.refusals: list[str] = []

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def clock(self, stamp_s: float) -> None: ...

    def executed(self, stamp_s: float, action: np.ndarray, held: bool, goal_id: str) -> None: ...

    def begin(self, stamp_s: float) -> None: ...

    def state(self, state: RobotState) -> None: ...

    def images(self, stamp_s: float, images: Mapping[str, np.ndarray]) -> None: ...

    def rejected(self, chunk: Chunk, reason: str) -> None:
        self.refusals.append(reason)

    def cut_short(self, reason: str) -> None: ...

    def goal_changed(self) -> None: ...


def test_shadow_mode_plans_everything_and_sends_nothing(
    scene_with: Scenes, reports: list[StepReport]
) -> None:
    scene = scene_with("fake", slow_start_s=0.0, hold_to_run=False)
    arm = RobotArm(scene, shadow=True, report=reports.append)
    try:
        start = arm.process.read().positions
        drive(arm, UP, 10)
        assert np.array_equal(arm.process.read().positions, start)
        assert np.abs(reports[-1].target.positions - start).max() > 0.01
        assert not any(report.sent for report in reports)
        way = np.array([1.2, 0.3, 0.0, -0.1, 0.0, 0.0, 0.0])
        for share in np.linspace(0.0, 1.0, 60):  # low over the table, which the arm itself stays away from
            arm.step_joints(start + share * way)
        assert arm.counts["path"] == 0
    finally:
        arm.close()


def test_without_an_operator_the_arm_holds(scene_with: Scenes) -> None:
    arm = RobotArm(scene_with("fake", slow_start_s=0.0, hold_to_run_s=1.0))
    try:
        start = arm.process.read().positions
        drive(arm, UP, 3)
        assert arm.stopped_by == "hold to run"
        assert np.allclose(arm.process.read().positions, start, atol=1e-6)
        drive(arm, UP, 10, beat=True)
        assert arm.stopped_by == ""
        assert not np.allclose(arm.process.read().positions, start, atol=1e-3)
    finally:
        arm.close()


def test_the_first_seconds_are_slow(scene_with: Scenes) -> None:
    heights = []
    for seconds in (0.0, 60.0):
        arm = RobotArm(scene_with("fake", slow_start_s=seconds, hold_to_run=False))
        try:
            before = float(arm.robot_state().ee_position[2])
            heights.append(drive(arm, UP, 15) - before)
        finally:
            arm.close()
    assert 0.0 < heights[1] < 0.5 * heights[0]


def test_a_driver_that_dies_is_named(arm: RobotArm) -> None:
    drive(arm, UP, 3)
    os.kill(arm.process.pid, signal.SIGKILL)
    with pytest.raises(ArmError, match="the driver's process has ended"):
        drive(arm, UP, 3)


def test_a_driver_that_is_told_to_end_in_a_motion_brings_the_arm_to_rest_first(arm: RobotArm) -> None:
    drive(arm, UP, 10)
    os.kill(arm.process.pid, signal.SIGTERM)
    with pytest.raises(ArmError, match=r"the driver's process has ended \(0\)"):
        drive(arm, UP, 40)


def test_scenes_without_an_arm_or_with_a_timeout_that_is_too_short_are_refused(scene_with: Scenes) -> None:
    with pytest.raises(ManifestError, match="arm is missing"):
        RobotArm(load_scene("tabletop_panda"))
    with pytest.raises(ManifestError, match="too short for 20 Hz"):
        RobotArm(scene_with("fake", command_timeout_s=0.06))


def test_an_arm_with_another_number_of_joints_than_its_robot_is_refused(scene_with: Scenes) -> None:
    def eight_joints(settings: HostSettings) -> ArmProcess:
        return ArmProcess(replace(settings, start=np.append(settings.start, 0.0)))

    with pytest.raises(ManifestError, match="has 7 joints of role arm, the arm 8; list all"):
        RobotArm(scene_with("fake"), connect=eight_joints)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("what", "limit"), [("velocity", np.nan), ("deceleration", -6.0), ("low", np.nan)])
def test_an_arm_that_reports_limits_that_are_none_is_refused(
    scene_with: Scenes, what: str, limit: float
) -> None:
    def confused(settings: HostSettings) -> ArmProcess:
        values = {what: np.where(np.arange(7) == 2, limit, getattr(settings.limits, what))}
        return ArmProcess(replace(settings, limits=replace(settings.limits, **values)))

    with pytest.raises(ArmError, match=rf"own limits of fr3_joint3 are none: .*{limit:g}.*; correct the arm"):
        RobotArm(scene_with("fake"), connect=confused)


def test_a_deployment_says_at_once_that_its_arm_is_away_from_the_start_pose(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(settings: HostSettings) -> ArmProcess:
        return ArmProcess(replace(settings, start=settings.start + 0.5 * np.eye(7)[1]))

    monkeypatch.setattr("openral_robot_bridge.arm_bridge.RobotArm", partial(RobotArm, connect=elsewhere))
    monkeypatch.setattr(
        "openral_robot_bridge.arm_bridge.load_arm_scene", lambda scene, address: scene_with("fake")
    )
    deployed = DeployedArm(ArmBridgeOptions(scene="fake"), NoSink())
    try:
        assert is_announcement(f"[bridge] [INFO] [1.0] [openral.bridge]: {deployed.describe()}")
        why = "slow start: joint 2 is 0.50 rad from the scene's start pose, allowed 0.20 rad; lead the arm there by"
        assert deployed.stopped_by.startswith(why)
        assert "by `openral robot home fr3_tabletop --address arm`, with no deployment" in deployed.stopped_by
    finally:
        deployed.finish()
        deployed.live()  # which disconnects at its end


def test_steps_in_which_hold_to_run_keeps_the_arm_still_are_not_executed_ones(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scene_with("fake", slow_start_s=0.0, hold_to_run_s=30.0)
    monkeypatch.setattr("openral_robot_bridge.arm_bridge.load_arm_scene", lambda name, address: scene)
    deployed = DeployedArm(ArmBridgeOptions(scene="fake"), NoSink())

    def executed_of_a_chunk() -> int:
        before, loop = deployed.executor.counters, deployed.loop
        data, words = np.tile(UP.astype(np.float32), 10).ravel(), ("skill", "up", scene.action.representation)
        loop.post(Chunk(loop.now_s, "a" * 32, *words, 0, 10, 7, scene.dt, data))
        end = time.monotonic() + 60.0
        loop.run(lambda: deployed.executor.counters.held < before.held + 15 and time.monotonic() < end)
        assert deployed.executor.counters.rejected == 0
        return deployed.executor.counters.executed - before.executed

    try:
        assert executed_of_a_chunk() == 0
        assert deployed.stopped_by == "hold to run"
        deployed.beat()
        assert executed_of_a_chunk() > 0
    finally:
        deployed.finish()
        deployed.live()  # which disconnects at its end


def test_a_recovery_ends_the_goal_so_that_the_arm_rests(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scene_with("fake", slow_start_s=0.0, hold_to_run=False, command_timeout_s=5.0)
    monkeypatch.setattr("openral_robot_bridge.arm_bridge.load_arm_scene", lambda name, address: scene)
    sink = NoSink()
    deployed = DeployedArm(ArmBridgeOptions(scene="fake"), sink)
    thread = threading.Thread(target=deployed.live)
    thread.start()
    try:
        deployed.start()

        def post() -> None:
            data = np.tile(STAY.astype(np.float32), 10).ravel()
            words = "skill", "stay", scene.action.representation
            deployed.loop.post(Chunk(deployed.loop.now_s, "a" * 32, *words, 0, 10, 7, scene.dt, data))

        def until(holds: Callable[[], object]) -> None:
            due = time.monotonic() + 20.0
            while not holds():
                assert time.monotonic() < due
                post()
                time.sleep(0.02)

        until(lambda: deployed.executor.active_goal)
        deployed.recover()
        until(lambda: any("has ended" in refusal for refusal in sink.refusals))
        assert not deployed.executor.active_goal
    finally:
        deployed.finish()
        thread.join()


def test_a_user_stop_ends_the_goal_so_that_its_release_moves_nothing(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed = threading.Event()

    class WithButton(ArmProcess):
        def read(self) -> ArmState:
            state = super().read()
            return replace(state, mode=ArmMode.USER_STOPPED) if pressed.is_set() else state

        def lead(self, *target: Any) -> ArmState:
            super().lead(*target)
            return self.read()

    scene = scene_with("fake", slow_start_s=0.0, hold_to_run=False, command_timeout_s=5.0)
    monkeypatch.setattr("openral_robot_bridge.arm_bridge.load_arm_scene", lambda name, address: scene)
    monkeypatch.setattr("openral_robot_bridge.arm_bridge.RobotArm", partial(RobotArm, connect=WithButton))
    sink = NoSink()
    deployed = DeployedArm(ArmBridgeOptions(scene="fake"), sink)
    thread = threading.Thread(target=deployed.live)
    thread.start()

    def until(holds: Callable[[], object]) -> None:
        due = time.monotonic() + 20.0
        while not holds():
            assert time.monotonic() < due
            data = np.tile(STAY.astype(np.float32), 10).ravel()
            words = "skill", "stay", scene.action.representation
            deployed.loop.post(Chunk(deployed.loop.now_s, "a" * 32, *words, 0, 10, 7, scene.dt, data))
            time.sleep(0.02)

    try:
        deployed.start()
        until(lambda: deployed.executor.active_goal)
        pressed.set()
        until(lambda: deployed.stopped_by == "user stopped" and not deployed.executor.active_goal)
        pressed.clear()
        until(lambda: deployed.stopped_by == "" and any("has ended" in each for each in sink.refusals))
        assert not deployed.executor.active_goal
    finally:
        deployed.finish()
        thread.join()


def test_an_arm_that_does_not_come_up_in_time_leaves_no_process(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openral_robot_bridge.process.CONNECT_S", 0.01)
    with pytest.raises(
        ArmError, match=r"the arm at 10\.0\.0\.7 does not answer: .* is another program connected to it"
    ):
        RobotArm(scene_with("fake", "10.0.0.7"))
    assert multiprocessing.active_children() == []


def test_an_arm_that_keeps_silent_is_told_of_while_it_is_waited_for(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("openral_robot_bridge.process.QUIET_S", 0.01)
    RobotArm(scene_with("fake", "10.0.0.7")).close()
    assert [record.getMessage() for record in caplog.records] == [
        "the arm at 10.0.0.7 does not answer yet; is another program connected to it? Waiting up to 60 s"
    ]


def test_what_fails_behind_the_connection_leaves_no_process(
    scene_with: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ManifestError("no such limit")

    with monkeypatch.context() as patch:
        patch.setattr("openral_robot_bridge.robot_arm.make_filter", broken)
        with pytest.raises(ManifestError, match="no such limit"):
            RobotArm(scene_with("fake"))
    assert multiprocessing.active_children() == []
    monkeypatch.setattr("openral_robot_bridge.arm_bridge.LinkFrames", broken)
    monkeypatch.setattr(
        "openral_robot_bridge.arm_bridge.load_arm_scene", lambda scene, address: scene_with("fake")
    )
    with pytest.raises(ManifestError, match="no such limit"):
        DeployedArm(ArmBridgeOptions(scene="fake"), NoSink())
    assert multiprocessing.active_children() == []


def test_the_arm_is_idle_at_first(arm: RobotArm) -> None:
    assert arm.state.mode is ArmMode.IDLE
    assert arm.refusal == ""
