"""Leading an arm's process in tests, and waiting for what it or its twin says."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np
import psutil
from twin_process import TwinProcess

from openral_core.hardware.arm_mode import ArmMode
from openral_robot_bridge.driver import ArmState
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


def follow_and_rest(arm: ArmProcess, offset: np.ndarray) -> None:
    """Lead the joints by an offset (7,) [rad], see that they follow, stay there when nobody leads them, and halt."""
    target = arm.read().positions + offset
    state = lead(arm, offset)
    assert state.mode is ArmMode.MOVING
    assert np.abs(state.positions - target).max() < 0.01
    rest = wait_for(arm, lambda s: np.abs(s.velocities).max() < 0.01)
    assert np.abs(rest.positions - target).max() < 0.01
    arm.halt()
    wait_for(arm, lambda s: s.mode is ArmMode.IDLE)


def kill_driver(twin: TwinProcess, arm: ArmProcess) -> None:
    """Kill an arm's process in motion, and wait until the twin holds its arm by itself."""
    lead(arm, STILL)
    os.kill(arm.pid, signal.SIGKILL)
    wait_until(twin, "idle")


@contextlib.contextmanager
def hung(pid: int) -> Iterator[None]:
    """Stop a process for the block, as one that hangs."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def client_of(arm: ArmProcess, module: str) -> psutil.Process:
    """Return the process that runs a module of the driver's, in which libfranka leads the arm, or its hand."""
    (found,) = (
        child
        for child in psutil.Process(arm.pid).children()
        if any(module in word for word in child.cmdline())
    )
    return found
