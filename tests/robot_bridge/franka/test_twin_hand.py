"""The Franka Hand of a twin, by the process that speaks to it, with the real libfranka of either driver."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from leading import STILL, client_of, wait_for
from twin_process import TwinProcess

from openral_control.safety.joint_limits import limits_of
from openral_core.hardware.arm_mode import ArmMode
from openral_core.robot import load_robot
from openral_core.scene_arm import SafetyLimits, SceneArm
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings

DRIVERS = {"franka": ("fr3", "franky"), "panda": ("panda", "panda_py")}
"""Robot and package of each driver."""
SILENT = r"the hand of the arm at .* does not answer \(.+\); look at Desk"


def of_one_driver(by_ci: str) -> pytest.MarkDecorator:
    """Parametrise a test that waits long for libfranka by all drivers, of which only one is tested by CI, too."""
    drivers = [pytest.param(d, marks=pytest.mark.slow if d == by_ci else pytest.mark.long) for d in DRIVERS]
    return pytest.mark.parametrize("driver", drivers, indirect=True, scope="module")


def connect(address: str, driver: str) -> ArmProcess:
    arm = SceneArm(driver=driver, address=address, safety=SafetyLimits(command_timeout_s=0.3))
    return ArmProcess(HostSettings(arm, limits_of(load_robot(DRIVERS[driver][0])), STILL))


@pytest.fixture(scope="module", params=list(DRIVERS))
def driver(request: pytest.FixtureRequest) -> str:
    found = str(request.param)
    pytest.importorskip(
        DRIVERS[found][1], reason=f"the extra [{found}] is not installed: Linux on x86_64 only"
    )
    return found


@pytest.fixture(scope="module")
def twin(driver: str) -> Iterator[TwinProcess]:
    made = TwinProcess(f"{DRIVERS[driver][0]}_tabletop")
    yield made
    made.close()


@pytest.fixture(scope="module")
def arm(twin: TwinProcess, driver: str) -> Iterator[ArmProcess]:
    made = connect(twin.address, driver)
    yield made
    made.close()


def close_and_open(arm: ArmProcess) -> None:
    """Close the fingers and open them, and wait until they have."""
    arm.grip(0.02, 0.1, 20.0)
    wait_for(arm, lambda s: s.width_m < 0.03)
    arm.grip(0.08, 0.1, 20.0)
    wait_for(arm, lambda s: s.width_m > 0.075)


def test_the_hand_closes_and_opens(arm: ArmProcess) -> None:
    close_and_open(arm)


@of_one_driver("franka")
def test_a_hand_that_falls_silent_is_a_fault_until_it_answers_and_is_connected_anew(
    twin: TwinProcess, arm: ArmProcess
) -> None:
    arm.grip(0.02, 0.05, 20.0)
    twin.tell("hand off")
    try:
        state = wait_for(arm, lambda s: s.mode is ArmMode.FAULT)
        assert state.faults == ("hand lost (UDP receive: Timeout)",)
        with pytest.raises(ArmError, match=SILENT):
            arm.recover()
        assert arm.read().mode is ArmMode.FAULT
    finally:
        twin.tell("hand on")
    arm.recover()
    assert arm.read().mode is ArmMode.IDLE
    close_and_open(arm)


def test_a_hand_whose_client_is_killed_is_a_fault_until_there_is_another_one(arm: ArmProcess) -> None:
    client_of(arm, "hand_child").kill()
    state = wait_for(arm, lambda s: s.mode is ArmMode.FAULT)
    assert state.faults == ("hand lost (its client has ended)",)
    arm.recover()
    assert arm.read().mode is ArmMode.IDLE
    # libfranka gives the highest priority to the thread that connects to the arm; nobody inherits it.
    assert os.sched_getscheduler(client_of(arm, "hand_child").pid) == os.SCHED_OTHER


@of_one_driver("panda")
def test_an_arm_whose_hand_does_not_answer_is_not_taken_for_one_without(
    twin: TwinProcess, arm: ArmProcess, driver: str
) -> None:
    arm.close()
    twin.tell("hand off")
    with pytest.raises(ArmError, match=SILENT):
        connect(twin.address, driver)
