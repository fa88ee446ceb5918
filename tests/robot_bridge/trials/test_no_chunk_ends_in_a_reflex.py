"""Whatever a policy asks for, a Franka goes on that meets nothing: through the real libfranka, in its twin's time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arm_scenes import read_arm_scene, write_arm_scene
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from openral_core.hardware.arm_mode import ArmMode
from openral_core.scene import load_scene
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.trials.lockstep_link import LockstepLink
from openral_robot_bridge.trials.twin_process import CommandedTwin

PATIENCE_MS = 900.0
ABOVE_M = 0.35
"""[m] over the table the hand stays: what moves by itself, as the drawer, is no obstacle to the safety filter."""
ACTION = st.lists(st.floats(-3.0, 3.0), min_size=7, max_size=7)
"""Up to thrice what a policy's action may be."""
CHUNKS = st.lists(st.tuples(ACTION, st.integers(1, 12)), min_size=1, max_size=8)
"""Actions, each of which is asked for in that many control steps."""


@pytest.fixture(scope="module")
def led(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RobotArm, CommandedTwin]]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    folder, content = tmp_path_factory.mktemp("chunks"), read_arm_scene("fr3_tabletop")
    address = f"127.98.{os.getpid() >> 8 & 255}.{1 + os.getpid() % 250}"
    content["arm"]["address"] = address
    content["workspace"]["low"][2] = content["home"][2] = ABOVE_M
    content["arm"]["safety"] = {**content["arm"].get("safety", {}), "hold_to_run": False, "slow_start_s": 0.0}
    file = write_arm_scene(folder, content)
    with CommandedTwin(file, address, 0, PATIENCE_MS, folder / "twin.log") as twin:
        links: list[LockstepLink] = []

        def connect(host: Any) -> LockstepLink:
            links.append(LockstepLink(twin, host))
            return links[0]

        arm = RobotArm(load_scene(str(file)), connect=connect, clock=lambda: links[0].now_s)
        yield arm, twin
        arm.close()


def sample(count: int) -> settings:
    """So many sequences, the same ones every time."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],  # each takes seconds, too long to look for a smaller one
        suppress_health_check=[HealthCheck.too_slow],
    )


def lead_through(led: tuple[RobotArm, CommandedTwin], chunks: list[tuple[list[float], int]]) -> None:
    """Ask for a sequence from a fresh start, and see that the arm moves in every step of it."""
    arm, twin = led
    arm.recover()
    twin.reset(0)
    arm.recover()
    missed = twin.cycles[1]
    for action, steps in chunks:
        for _ in range(steps):
            arm.step(np.array(action))
            assert arm.blocked_by == ""
            assert arm.state.mode is ArmMode.MOVING
    assert twin.cycles[1] == missed


@sample(2)
@given(CHUNKS)
def test_no_sequence_of_actions_ends_the_motion(
    led: tuple[RobotArm, CommandedTwin], chunks: list[tuple[list[float], int]]
) -> None:
    lead_through(led, chunks)


@pytest.mark.long
@sample(12)
@given(CHUNKS)
def test_none_of_more_sequences_ends_the_motion(
    led: tuple[RobotArm, CommandedTwin], chunks: list[tuple[list[float], int]]
) -> None:
    lead_through(led, chunks)
