"""The real libfranka 0.9.2, by panda-python in processes of its own, against the twin of a Panda on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from fci_faults import lose_commands, name_every_reflex, reflex_in_motion, user_stop_in_motion
from leading import (
    STILL,
    client_of,
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
from openral_core.scene_arm import SafetyLimits, SceneArm
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.fci_versions import refused
from openral_robot_bridge.drivers.panda.panda_driver import PandaDriver
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings

LIMITS = limits_of(load_robot("panda"))
CLIENT = "arm_client"
WAY = np.array([0.2, 0.0, 0.0, 0.1, 0.0, -0.1, 0.2])


def connect(address: str, driver: str = "panda") -> ArmProcess:
    safety = SafetyLimits(command_timeout_s=0.3)
    return ArmProcess(HostSettings(SceneArm(driver=driver, address=address, safety=safety), LIMITS, STILL))


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinProcess]:
    pytest.importorskip("panda_py", reason="the extra [panda] is not installed: Linux on x86_64 only")
    made = TwinProcess("panda_tabletop")
    yield made
    made.close()


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
    wait_for(connected, lambda s: s.mode is not ArmMode.MOVING)
    connected.recover()
    return connected


def test_the_arm_says_who_it_is_and_not_what_its_joints_may(arm: ArmProcess) -> None:
    assert arm.info.versions["FCI"] == "5"
    assert arm.info.max_width_m == pytest.approx(0.08, abs=1e-3)
    assert np.isinf(arm.info.limits.high).all()
    assert (arm.limits.high == LIMITS.high).all()


def test_joints_follow_and_come_to_rest_when_nobody_leads_them(arm: ArmProcess) -> None:
    follow_and_rest(arm, WAY)


def test_a_halt_in_mid_motion_ends_it_on_the_way(arm: ArmProcess) -> None:
    start = arm.read().positions
    arm.lead(start + 5 * WAY, STILL, 3.0)
    while (state := arm.lead(start + 5 * WAY, STILL, 2.0)).velocities[0] < 0.1:
        time.sleep(0.02)
    arm.halt()
    rest = wait_for(arm, lambda s: s.mode is ArmMode.IDLE and np.abs(s.velocities).max() < 0.01)
    assert state.positions[0] < rest.positions[0] < start[0] + 4.5 * WAY[0]


def test_reflexes_have_libfrankas_names(twin: TwinProcess, arm: ArmProcess) -> None:
    name_every_reflex(twin, arm)


def test_a_reflex_ends_a_motion_until_it_is_recovered_from(twin: TwinProcess, arm: ArmProcess) -> None:
    reflex_in_motion(twin, arm)


def test_the_user_stop_ends_a_motion_and_is_named(twin: TwinProcess, arm: ArmProcess) -> None:
    user_stop_in_motion(twin, arm, "User Stop pressed")


def test_lost_commands_are_borne_up_to_twenty(twin: TwinProcess, arm: ArmProcess) -> None:
    lose_commands(twin, arm)


def test_a_driver_that_hangs_leaves_an_arm_that_is_brought_to_rest(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    lead(arm, STILL)
    with hung(arm.pid):
        wait_until(twin, "idle")
    with pytest.raises(ArmError, match="nobody led it"):
        lead(arm, STILL)
    arm.recover()


def test_a_client_that_hangs_ends_in_a_reflex_and_the_arm_holds(twin: TwinProcess, arm: ArmProcess) -> None:
    lead(arm, STILL)
    with hung(client_of(arm, CLIENT).pid):
        wait_until(twin, "reflex")
    wait_for(arm, lambda s: s.faults == ("communication_constraints_violation",))
    arm.recover()


def test_a_client_that_is_killed_is_named_and_the_arm_holds(twin: TwinProcess, connected: ArmProcess) -> None:
    lead(connected, STILL)
    client_of(connected, CLIENT).kill()
    wait_until(twin, "idle")
    with pytest.raises(ArmError, match="the process of the arm's client has ended"):
        wait_for(connected, lambda s: False)
    connected.close()


def test_a_driver_that_is_killed_leaves_an_arm_that_holds(twin: TwinProcess) -> None:
    doomed = connect(twin.address)
    client = client_of(doomed, CLIENT)
    kill_driver(twin, doomed)
    client.wait(5.0)
    doomed.close()


@pytest.mark.slow
def test_clients_of_another_version_are_told_which_driver_fits(twin: TwinProcess) -> None:
    fr3 = TwinProcess("fr3_tabletop")
    panda = PandaDriver(fr3.address, LIMITS, 0.004, SafetyLimits())
    try:
        with pytest.raises(ArmError, match=r"10 of the FCI \(an FR3 of system image 5\.9 or newer\)") as told:
            panda.connect()
    finally:
        panda.close()
        fr3.close()
    assert "panda-python" in str(told.value)
    assert "write `driver: franka`" in str(told.value)
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    with pytest.raises(ArmError, match=r"5 of the FCI \(a Panda of firmware 4\.x\)") as told:
        connect(
            twin.address, "franka"
        )  # in a process of its own, to which libfranka gives the highest priority
    assert "franky-control" in str(told.value)
    assert "write `driver: panda`" in str(told.value)


def test_an_fr3_that_neither_client_speaks_to_is_to_be_updated() -> None:
    words = "Incompatible library version (server version: 7, library version: 10)."
    said = str(refused("10.0.0.2", words, "franky-control 2.0.0", 10))
    assert "speaks version 7 of the FCI (an FR3 of a system image before 5.9)" in said
    assert "update the arm's system image to 5.9 or newer" in said
