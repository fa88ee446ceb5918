"""A real arm's client in mid-motion: stops and faults, and what the arm did, by the trace of its twin."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from system_robot import RobotDeployment

from openral_control.safety.joint_limits import limits_of
from openral_core.robot import load_robot

LIMITS = limits_of(load_robot("fr3"))
MOVE = "motion_move_to"
SUCCEEDED = 1
STILL_RAD_S = 0.01
"""[rad/s] below which a joint counts as still; the model's joints tremble less."""
SLOWER = 0.98
"""Share of the speed at a stop below which the arm counts as slower."""
MOVING_RAD_S = 0.1
"""[rad/s] of the quickest joint from which on an arm counts as in motion."""
BOX = np.array([[0.4, -0.3, 0.15], [0.62, 0.3, 0.4]])
"""[m] where random points lie."""


@dataclass(frozen=True)
class Halt:
    """What an arm did from a fault on."""

    decelerates_s: float
    """[s] from the fault to the cycle of its greatest speed, from which on it decelerates."""
    slower_s: float
    """[s] from the fault to the first cycle from which on the arm is slower than at the fault."""
    rests_s: float
    """[s] from the fault to rest."""
    speed: float
    """Greatest share of a joint's speed limit."""
    acceleration: float
    """Greatest share of a joint's acceleration limit."""
    moved_rad: float
    """[rad] that the joint with the longest way still went."""


class Arm:
    """A deployment whose twin keeps a trace."""

    def __init__(self, stacks: ExitStack, folder: Path) -> None:
        self.deployment = RobotDeployment(stacks, folder)
        self._file = folder / "trace.npz"
        self._random = np.random.default_rng(0)
        self.deployment.hold(True)

    def set_off(self) -> Any:
        """Send the hand to a random point far away; return the future of the goal's end, with the arm in motion."""
        operator, hand = self.deployment.operator, self.deployment.hand()
        while np.linalg.norm((point := self._random.uniform(*BOX)) - hand) < 0.2:
            pass
        self.deployment.twin.tell(f"trace {self._file}")
        handle = operator.send_goal(MOVE, "", 0.0, {"position": point.tolist(), "speed_m_s": 0.15})
        ended = handle.get_result_async()
        before = self.deployment.hand()
        operator.until(lambda: np.abs(self.deployment.hand() - before).max() > 0.01, "motion")
        time.sleep(self._random.uniform(0.0, 0.4))
        return ended

    def halt(self, at: float, within_s: float) -> Halt:
        """Wait until the arm rests; return what it did since a monotonic time [s], for so long."""
        self.deployment.until_still()
        self.deployment.twin.tell("trace end")
        with np.load(self._file) as trace:
            seen = trace["stamps"] < at + within_s
            columns = [trace[name][seen] for name in ("stamps", "positions", "velocities", "accelerations")]
        return measured(*columns, at)

    def ready(self) -> None:
        """Put the arm back to where goals are taken."""
        operator = self.deployment.operator
        self.deployment.hold(True)
        self.deployment.twin.tell("user_stop off")
        operator.press("/openral/recover")
        operator.press("/openral/estop_reset")
        operator.until_active(MOVE)


Column = NDArray[np.float64]


def measured(stamps: Column, positions: Column, velocities: Column, accelerations: Column, at: float) -> Halt:
    """Return what a trace (T, n) of an arm says about a halt at a time [s]."""
    after = int(np.searchsorted(stamps, at))
    quickest = np.abs(velocities).max(axis=1)
    speed = np.linalg.norm(velocities, axis=1)
    assert quickest[after - 1] > MOVING_RAD_S / 5, "the arm stood still when the fault came"
    resting = np.flatnonzero(quickest[after:] >= STILL_RAD_S)
    rest = after + (int(resting[-1]) + 1 if len(resting) else 0)
    faster = np.flatnonzero(speed[after:] >= SLOWER * speed[after - 1])
    slower = after + (int(faster[-1]) + 1 if len(faster) else 0)
    way = positions[after : rest + 1] - positions[after]
    fastest = after + int(np.argmax(speed[after : rest + 1]))
    return Halt(
        float(max(stamps[min(fastest, len(stamps) - 1)] - at, 0.0)),
        float(stamps[min(slower, len(stamps) - 1)] - at),
        float(stamps[min(rest, len(stamps) - 1)] - at),
        float((np.abs(velocities[after:]) / LIMITS.velocity).max()),
        float((np.abs(accelerations[after:]) / LIMITS.acceleration).max()),
        float(np.abs(way).max()),
    )


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arm]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    with ExitStack() as stacks:
        yield Arm(stacks, tmp_path_factory.mktemp("arm"))


def emergency_stop(arm: Arm) -> float:
    """The service that every operator has."""
    return arm.deployment.operator.press("/openral/estop")


def let_go(arm: Arm) -> float:
    """The operator's sign of life ends."""
    arm.deployment.hold(False)
    return time.monotonic()


def kill_motions(arm: Arm) -> float:
    """The node that sends chunks is killed; the launch starts it again."""
    arm.deployment.stack.node("motion_node").kill()
    return time.monotonic()


def freeze_motions(arm: Arm) -> float:
    """The node that sends chunks stands still for 2 s."""
    return freeze(arm.deployment.stack.node("motion_node").pid)


def freeze_bridge(arm: Arm) -> float:
    """The bridge stands still for 2 s; its driver's process does not."""
    return freeze(arm.deployment.stack.node("robot_bridge").pid)


def press_user_stop(arm: Arm) -> float:
    """The button beside the arm."""
    return tell(arm, "user_stop on")


def collide(arm: Arm) -> float:
    """A reflex, as after a collision."""
    return tell(arm, "fail joint_reflex")


def lose_commands(arm: Arm) -> float:
    """Thirty commands in a row do not reach the arm."""
    return tell(arm, "lose 30")


def tell(arm: Arm, line: str) -> float:
    at = time.monotonic()
    arm.deployment.twin.tell(line)
    return at


def freeze(pid: int) -> float:
    os.kill(pid, signal.SIGSTOP)
    at = time.monotonic()
    threading.Timer(FREEZE_S, os.kill, (pid, signal.SIGCONT)).start()
    return at


FREEZE_S = 2.0
"""[s] that a process stands still."""
UNLED: dict[str, Callable[[Arm], float]] = {
    "the operator's sign of life ends": let_go,
    "SIGKILL of the node that sends chunks": kill_motions,
}
FAULTS: dict[str, Callable[[Arm], float]] = {
    "SIGSTOP of the node that sends chunks, for 2 s": freeze_motions,
    "SIGSTOP of the bridge, for 2 s": freeze_bridge,
    "the user stop beside the arm": press_user_stop,
    "a reflex after a collision": collide,
    "30 commands lost on their way to the arm": lose_commands,
}


def halts(arm: Arm, fault: Callable[[Arm], float], times: int) -> list[Halt]:
    """Inject a fault again and again into random motions; the arm takes goals after each."""
    found = []
    for _ in range(times):
        ended = arm.set_off()
        found.append(arm.halt(fault(arm), FREEZE_S if fault is freeze_bridge else np.inf))
        if fault is not kill_motions:  # whose goal nobody ends any more
            arm.deployment.operator.until(ended.done, "the goal's end", 30.0)
            assert ended.result().result.outcome != SUCCEEDED
        arm.ready()
    return found


def report(figure: Any, injected: str, found: list[Halt], bar: str) -> None:
    """Write down what an arm did; `worst` is its longest way to rest."""
    worst = max(found, key=lambda halt: halt.rests_s)
    first, slower = (
        float(np.percentile([getattr(halt, name) for halt in found], 99))
        for name in ("decelerates_s", "slower_s")
    )
    speed, acceleration = (max(getattr(halt, name) for halt in found) for name in ("speed", "acceleration"))
    figure(
        row=32,
        injected=injected,
        times=len(found),
        happened=f"at rest by itself; decelerates from {1e3 * first:.0f} ms on and is slower from "
        f"{1e3 * slower:.0f} ms on (p99); speed at most {speed:.0%} and acceleration at most {acceleration:.0%} "
        "of the arm's limits",
        worst=1e3 * worst.rests_s,
        unit="ms to rest",
        bar=bar,
        lost="the goal",
    )


STOP_BAR = "decelerates within 20 ms, at rest within 300 ms"


@pytest.mark.parametrize(
    "times", [pytest.param(1, id="once"), pytest.param(200, id="often", marks=pytest.mark.long)]
)
def test_an_emergency_stop_at_a_random_moment_brings_the_arm_to_rest(
    arm: Arm, figure: Any, times: int
) -> None:
    """The arm takes goals after each reset."""
    found = halts(arm, emergency_stop, times)
    assert all(halt.speed < 1.0 for halt in found)
    report(figure, "E-stop in a random motion", found, STOP_BAR)


@pytest.mark.parametrize("injected", UNLED)
def test_an_arm_that_nobody_leads_comes_to_rest(arm: Arm, figure: Any, injected: str) -> None:
    """By the bridge's safety filter, or by its control loop."""
    report(figure, injected, halts(arm, UNLED[injected], 1), "the chunk's own horizon, then at rest")


@pytest.mark.long
@pytest.mark.parametrize("injected", FAULTS)
def test_faults_in_mid_motion_bring_the_arm_to_rest(arm: Arm, figure: Any, injected: str) -> None:
    """Again and again, by whatever ends the motion."""
    report(figure, injected, halts(arm, FAULTS[injected], 5), "at rest, nothing beyond the limits")
