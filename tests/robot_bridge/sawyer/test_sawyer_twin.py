"""The Sawyer's driver in its own process against the twin, over ROS 1 on loopback with the twin's own master."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from leading import STILL, follow_and_rest, hung, kill_driver, lead, wait_for, wait_until
from sawyer_arm import LIMITS, OFFSET, connect
from twin_process import TwinProcess
from typer.testing import CliRunner

from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge.commands import app
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.sawyer import SawyerDriver
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.ros1.master import Ros1Master


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinProcess]:
    made = TwinProcess("sawyer_tabletop")
    yield made
    made.close()


@pytest.fixture(scope="module")
def connected(twin: TwinProcess) -> Iterator[ArmProcess]:
    made = connect(twin.address)
    yield made
    made.close()


@pytest.fixture
def arm(connected: ArmProcess) -> ArmProcess:
    """The arm, enabled and idle."""
    connected.recover()
    wait_for(connected, lambda s: s.mode is ArmMode.IDLE)
    return connected


def test_an_arm_that_was_just_switched_on_is_disabled_until_it_is_recovered(
    twin: TwinProcess, connected: ArmProcess
) -> None:
    state = connected.read()
    assert (state.mode, state.faults) == (ArmMode.REFLEX, ("disabled",))
    with pytest.raises(ArmError, match="disabled"):
        lead(connected, OFFSET)
    connected.recover()
    assert wait_for(connected, lambda s: s.mode is ArmMode.IDLE).faults == ()


def test_the_arm_says_who_it_is_whatever_the_order_of_its_joints(arm: ArmProcess) -> None:
    assert arm.info.limits.names == LIMITS.names
    for ours, theirs in ((LIMITS.low, arm.info.limits.low), (LIMITS.velocity, arm.info.limits.velocity)):
        assert theirs.tolist() == ours.tolist()
    assert arm.info.max_width_m == pytest.approx(0.041667)
    assert arm.info.versions["Intera"] == "5.3.0 (twin)"


def test_joints_follow_and_come_to_rest_when_nobody_leads_them(twin: TwinProcess, arm: ArmProcess) -> None:
    follow_and_rest(arm, OFFSET)
    wait_until(twin, "idle")
    arm.release()


def test_no_joint_goes_faster_than_its_limit(arm: ArmProcess) -> None:
    start = arm.read().positions
    fastest = np.zeros(7)
    for sign in (1, -1):
        target, due = start + sign * 0.3, time.monotonic() + 1.0
        while time.monotonic() < due:
            state = arm.lead(target, STILL, 0.0)
            fastest = np.maximum(fastest, np.abs(state.velocities))
            time.sleep(0.02)
    lead(arm, start - arm.read().positions)
    assert fastest.max() > 0.3
    assert (fastest <= LIMITS.velocity).all()


def test_halts_at_random_moments_bring_the_arm_to_rest_within_its_limits(
    twin: TwinProcess, arm: ArmProcess, tmp_path: Path
) -> None:
    random, start, file = np.random.default_rng(0), arm.read().positions, tmp_path / "trace.npz"
    for _ in range(3):
        twin.tell(f"trace {file}")
        target, due = start + random.uniform(-0.3, 0.3, 7), time.monotonic() + random.uniform(0.3, 0.6)
        while time.monotonic() < due:
            arm.lead(target, STILL, 0.0)
            time.sleep(0.02)
        at = time.monotonic()
        arm.halt()
        wait_for(arm, lambda s: s.mode is ArmMode.IDLE)
        time.sleep(0.1)
        twin.tell("trace end")
        arm.release()
        with np.load(file) as trace:
            speeds, halted = np.abs(trace["velocities"]), int(np.searchsorted(trace["stamps"], at))
            way = np.abs(trace["positions"][-1] - trace["positions"][halted])
        assert (speeds <= LIMITS.velocity).all()
        assert speeds[-1].max() < 0.05
        # Half a second at the speed of the halt would be a stop that nobody ordered.
        assert (way <= 0.25 * speeds[halted:].max(axis=0) + 0.05).all()


def test_an_arm_that_is_disabled_in_motion_stands_and_says_so(twin: TwinProcess, arm: ArmProcess) -> None:
    lead(arm, STILL)
    twin.tell("disable")
    with pytest.raises(ArmError, match="disabled"):
        lead(arm, OFFSET)
    stood = wait_for(arm, lambda s: np.abs(s.velocities).max() < 0.01)
    assert (stood.mode, stood.faults) == (ArmMode.REFLEX, ("disabled",))
    arm.recover()
    target = arm.read().positions + 0.05
    assert np.abs(lead(arm, np.full(7, 0.05)).positions - target).max() < 0.01


def test_the_stop_button_is_named_and_nothing_recovers_while_it_is_pressed(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    lead(arm, STILL)
    twin.tell("button on")
    wait_for(arm, lambda s: s.mode is ArmMode.USER_STOPPED)
    with pytest.raises(ArmError, match="button is pressed; release it"):
        arm.recover()
    twin.tell("button off")
    assert wait_for(arm, lambda s: s.mode is not ArmMode.USER_STOPPED).faults == ("stopped",)
    arm.recover()
    assert wait_for(arm, lambda s: s.mode is ArmMode.IDLE)


def test_a_fault_of_a_joint_is_named_and_reset(twin: TwinProcess, arm: ArmProcess) -> None:
    twin.tell("fail")
    state = wait_for(arm, lambda s: s.mode is ArmMode.REFLEX)
    assert set(state.faults) == {"joint fault", "error"}
    arm.recover()
    assert arm.read().faults == ()


def test_what_holds_the_arm_back_ends_its_motion(arm: ArmProcess) -> None:
    start = arm.read().positions
    with pytest.raises(ArmError, match=r"collision|holds it back"):
        lead(arm, np.array([0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0]), 1.5)  # into the table
    wait_for(arm, lambda s: np.abs(s.velocities).max() < 0.01)
    arm.recover()
    lead(arm, start - arm.read().positions, 2.0)


def test_a_driver_that_hangs_leaves_an_arm_that_holds_by_its_own_timeout(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    lead(arm, STILL)
    arm.lead(arm.read().positions + 0.3, STILL, 1.0)
    with hung(arm.pid):
        assert not wait_until(twin, "idle").endswith("timeouts=0\n")
    state = wait_for(arm, lambda s: s.mode is ArmMode.FAULT)
    assert "command timeout" in state.faults[0]
    arm.recover()
    assert arm.read().mode is ArmMode.IDLE


def test_an_arm_that_says_nothing_any_more_is_a_fault_until_it_does(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    with hung(twin.process.pid):
        state = wait_for(arm, lambda s: s.mode is ArmMode.FAULT)
        assert "no state since" in state.faults[0]
    wait_for(arm, lambda s: s.mode is ArmMode.IDLE)


def test_the_gripper_calibrates_closes_and_opens(arm: ArmProcess) -> None:
    arm.grip(0.0, 0.1, 20.0)
    wait_for(arm, lambda s: s.width_m < 0.002)
    arm.grip(0.041, 0.3, 20.0)
    wait_for(arm, lambda s: s.width_m > 0.039)


def test_an_address_without_an_arm_is_named() -> None:
    driver = SawyerDriver("127.250.250.250", LIMITS.names)
    try:
        with pytest.raises(ArmError, match=r"127\.250\.250\.250 cannot be used: .*; is it switched on"):
            driver.connect()
    finally:
        driver.close()


def test_a_master_without_an_arm_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openral_robot_bridge.drivers.sawyer.FIRST_S", 0.3)
    master = Ros1Master("127.250.250.251", 11311)
    driver = SawyerDriver("127.250.250.251", LIMITS.names)
    try:
        with pytest.raises(
            ArmError, match=r"offers no /robot/joint_states for right_j0, .*: is this a Sawyer"
        ):
            driver.connect()
    finally:
        driver.close()
        master.close()


@pytest.mark.long
def test_check_recover_and_home_work_on_the_command_line(twin: TwinProcess, arm: ArmProcess) -> None:
    words = ["sawyer_tabletop", "--address", twin.address]
    lead(arm, np.array([0.1, 0, 0, 0, 0, 0, 0]))
    arm.halt()
    arm.release()
    wait_for(arm, lambda s: s.mode is ArmMode.IDLE)
    twin.tell("disable")
    refused = CliRunner().invoke(app, ["check", *words])
    assert refused.exit_code == 1
    assert "reflex, disabled" in refused.output
    assert "openral robot recover" in refused.output
    moved = CliRunner().invoke(app, ["home", *words, "--yes"])
    recover = f"`openral robot recover sawyer_tabletop --address {twin.address}`"
    assert f"reflex, disabled); release its stop, or run {recover}" in str(moved.exception)
    for command in (["recover", *words], ["home", *words, "--yes"]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output


def test_a_driver_that_is_killed_leaves_an_arm_that_holds(twin: TwinProcess, arm: ArmProcess) -> None:
    kill_driver(twin, arm)


def test_an_address_of_another_machine_is_no_place_for_a_twin() -> None:
    done = CliRunner().invoke(app, ["twin", "sawyer_tabletop", "--address", "127.0.0.1:80000"])
    assert "is no address of a master" in str(done.exception)
    done = CliRunner().invoke(app, ["twin", "sawyer_tabletop", "--address", "192.0.2.1"])
    assert "choose another address" in str(done.exception)
