"""What happens to any arm that speaks the FCI, whichever client moves it; told by its twin."""

from __future__ import annotations

import time

import numpy as np
import pytest
from leading import STILL, lead, wait_for
from twin_process import TwinProcess

from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.twins.fci.wire import FciFault

AWAY = np.full(7, 0.05)


def name_every_reflex(twin: TwinProcess, arm: ArmProcess) -> None:
    """See that each reflex has libfranka's name, and is over when the arm is recovered."""
    for fault in FciFault:
        twin.tell(f"fail {fault.name.lower()}")
        state = wait_for(arm, lambda s: s.mode is ArmMode.REFLEX)
        assert state.faults == (fault.name.lower(),)
        arm.recover()
        assert arm.read().faults == ()


def reflex_in_motion(twin: TwinProcess, arm: ArmProcess) -> None:
    """See that a reflex ends a motion, and that the next one is made once the arm is recovered."""
    lead(arm, STILL)
    twin.tell("fail joint_reflex")
    with pytest.raises(ArmError, match=r"motion aborted by reflex.*joint_reflex"):
        lead(arm, AWAY)
    arm.recover()
    start = arm.read().positions
    assert np.abs(lead(arm, AWAY).positions - start - AWAY).max() < 0.01


def user_stop_in_motion(twin: TwinProcess, arm: ArmProcess, said: str | None) -> None:
    """See that the user stop ends a motion with an error, which matches `said`, and that the arm is idle after it."""
    lead(arm, STILL)
    twin.tell("user_stop on")
    try:
        wait_for(arm, lambda s: s.mode is ArmMode.USER_STOPPED)
        with pytest.raises(ArmError, match=said):
            lead(arm, AWAY)
        with pytest.raises(ArmError, match="release the user stop"):
            arm.recover()
    finally:
        twin.tell("user_stop off")
    arm.recover()
    assert wait_for(arm, lambda s: s.mode is ArmMode.IDLE)


def lose_commands(twin: TwinProcess, arm: ArmProcess) -> None:
    """See that ten commands lost in a row are borne, and twenty-five are not: libfranka's limit is twenty."""
    lead(arm, STILL)
    twin.tell("lose 10")
    time.sleep(0.5)
    assert lead(arm, STILL).mode is ArmMode.MOVING
    twin.tell("lose 25")
    state = wait_for(arm, lambda s: s.mode is ArmMode.REFLEX)
    assert state.faults == ("communication_constraints_violation",)
    arm.recover()
