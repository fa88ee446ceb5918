"""Halts of a Franka in mid-motion, by the real client, in the time of a twin that waits for it: what the joints do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from openral_control.safety.joint_limits import Vector, limits_of
from openral_core.files.share import share_directory
from openral_core.robot import load_robot
from openral_core.scene_arm import SceneArm
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.trials.lockstep_link import LockstepLink
from openral_robot_bridge.trials.twin_process import CommandedTwin
from openral_robot_bridge.twins.fci.wire import CYCLE_S

FEW, MANY, STEP_S, PATIENCE_MS = 1, 4, 0.05, 900.0
LIMITS = limits_of(load_robot("fr3"))
START = np.array([0.0, 0.21, 0.0, -2.33, 0.0, 2.54, 0.785398])
SWING_RAD = np.array([0.3, 0.15, 0.3, 0.2, 0.3, 0.3, 0.3])
STILL_RAD_S = 0.01
"""[rad/s] below which a joint counts as still; the model's joints tremble less."""


@dataclass(frozen=True)
class Halt:
    """What the joints did from a halt on, cycle by cycle."""

    before: Vector
    """(n,) [rad/s] in the last cycle before it."""
    velocities: Vector
    """(T, n) [rad/s]"""
    accelerations: Vector
    """(T, n) [rad/s²]"""

    def last_s(self, which: Vector) -> float:
        """Return the time [s] from the halt to the end of the last cycle that is marked in (T,)."""
        found = np.flatnonzero(which)
        return CYCLE_S * (int(found[-1]) + 1 if len(found) else 0)


@pytest.fixture(scope="module", params=[FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def halts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Halt]]:
    """So many halts at random moments."""
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    folder, address = (
        tmp_path_factory.mktemp("halts"),
        f"127.99.{os.getpid() >> 8 & 255}.{1 + os.getpid() % 250}",
    )
    scene = share_directory() / "scenes" / "robot" / "fr3_tabletop.yaml"
    with CommandedTwin(scene, address, 0, PATIENCE_MS, folder / "twin.log") as twin:
        arm = LockstepLink(twin, HostSettings(SceneArm(driver="franka", address=address), LIMITS, START))
        rng = np.random.default_rng(19)
        yield [halt(twin, arm, rng, folder / f"{number}.npz") for number in range(request.param)]
        arm.close()


def halt(twin: CommandedTwin, arm: LockstepLink, rng: np.random.Generator, file: Path) -> Halt:
    """Swing all joints, growing for 0.6 s, and halt the arm at a random moment after that."""
    rates, phases = 2 * np.pi * rng.uniform(0.2, 0.4, 7), rng.uniform(0, 2 * np.pi, 7)
    centre, now = arm.read().positions, 0.0
    twin.tell(f"trace {file}")
    for _ in range(rng.integers(14, 26)):
        now += STEP_S
        grown = min(1.0, now / 0.6) * SWING_RAD
        way, speed = np.sin(rates * now + phases) - np.sin(phases), rates * np.cos(rates * now + phases)
        arm.lead(centre + grown * way, grown * speed + (now < 0.6) * SWING_RAD / 0.6 * way, STEP_S)
    began = twin.cycles[0]
    arm.halt()
    time.sleep(0.3)
    while np.abs(arm.read().velocities).max() > STILL_RAD_S:
        time.sleep(0.05)
    twin.tell("trace end")
    after = twin.cycles[0] - began  # and a few, in which the twin was asked: they come before the halt
    with np.load(file) as trace:
        velocities, accelerations = trace["velocities"], trace["accelerations"]
    return Halt(velocities[-after - 1], velocities[-after:], accelerations[-after:])


def test_the_arm_is_slower_within_20_ms_and_at_rest_within_300(halts: list[Halt]) -> None:
    for one in halts:
        speed = np.linalg.norm(one.before)
        assert speed > 0.2
        assert one.last_s(np.linalg.norm(one.velocities, axis=1) > 0.98 * speed) <= 0.02
        assert one.last_s(np.abs(one.velocities).max(axis=1) > STILL_RAD_S) <= 0.3


def test_accelerations_and_jerks_stay_within_the_limits_of_the_arm(halts: list[Halt]) -> None:
    for one in halts:
        assert (np.abs(one.accelerations) < LIMITS.acceleration).all()
        assert (np.abs(np.diff(one.accelerations, axis=0)) / CYCLE_S < LIMITS.jerk).all()
