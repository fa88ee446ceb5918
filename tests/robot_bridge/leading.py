"""Leading an arm's process in tests, and waiting for what it or its twin says."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from twin_process import TwinProcess

from openral_robot_bridge.driver import ArmMode, ArmState
from openral_robot_bridge.process import ArmProcess

STILL = np.zeros(7)


def wait_for(arm: ArmProcess, what: Callable[[ArmState], bool], patience_s: float = 20.0) -> ArmState:
    """Return the first state of which something holds."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        state = arm.read()
        if what(state):
            return state
        time.sleep(0.01)
    raise AssertionError(f"after {patience_s:g} s the arm still says {state}")


def wait_until(twin: TwinProcess, mode: str) -> str:
    """Wait until the twin says that it is in a mode; return what it says."""
    deadline = time.monotonic() + 30.0
    while not (said := twin.tell("status")).startswith(mode):
        assert time.monotonic() < deadline, said
        time.sleep(0.05)
    return said


def lead(arm: ArmProcess, offset: np.ndarray, seconds: float = 1.0) -> ArmState:
    """Lead the joints within `seconds` by an offset (7,) [rad], and wait until they are there."""
    target, began = arm.read().positions + offset, time.monotonic()
    while True:
        gone = time.monotonic() - began
        state = arm.lead(target, STILL, max(0.05, seconds - gone))
        there = np.abs(state.positions - target).max() < 0.005 and state.mode is ArmMode.MOVING
        if (there and gone > 0.2) or gone > 10.0 * seconds:
            return state
        time.sleep(0.05)
