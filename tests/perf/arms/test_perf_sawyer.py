"""What Sawyer's ROS 1 topics cost: how evenly commands come at the arm's side, and how long a stop takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openral_robot_bridge import intera
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.ros1.messages import MessageTypes
from openral_robot_bridge.ros1.node import Ros1Node

sys.path += [str(Path(__file__).parents[2] / folder) for folder in ("robot_bridge", "robot_bridge/sawyer")]
from sawyer_arm import LIMITS, connect
from twin_process import TwinProcess

STREAM_S, STOPS = 20.0, 40
STILL_RAD_S = 0.01


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinProcess]:
    made = TwinProcess("sawyer_tabletop")
    yield made
    made.close()


@pytest.fixture
def arm(twin: TwinProcess) -> Iterator[ArmProcess]:
    made = connect(twin.address)
    made.recover()
    yield made
    made.close()


def test_commands_at_the_arms_side(report, twin: TwinProcess, arm: ArmProcess) -> None:
    types = MessageTypes(intera.DEFINITIONS)
    came: list[tuple[float, float]] = []
    node = Ros1Node("watcher", twin.address, types)
    try:
        node.subscribe(
            intera.COMMAND,
            "intera_core_msgs/JointCommand",
            lambda m: came.append((time.time(), m.header.stamp.sec + m.header.stamp.nanosec * 1e-9)),
        )
        start, began, errors = arm.read().positions, time.monotonic(), []
        while (gone := time.monotonic() - began) < STREAM_S:
            target = start + 0.3 * np.sin(gone) * np.eye(7)[0]
            state = arm.lead(target, 0.3 * np.cos(gone) * np.eye(7)[0], 0.05)
            errors.append(abs(state.positions[0] - target[0]))
            time.sleep(0.05)
    finally:
        node.close()
    arrived, sent = np.array(came).T
    between, late = np.diff(arrived) * 1e3, (arrived - sent) * 1e3
    p50, p99 = np.percentile(between, [50, 99])
    report(
        f"Sawyer's commands as they arrive, nominally every 10 ms, for {STREAM_S:g} s",
        f"between two: median {p50:.1f} ms, p99 {p99:.1f} ms, longest {between.max():.0f} ms",
        f"on their way: median {np.median(late):.2f} ms, p99 {np.percentile(late, 99):.1f} ms; "
        f"joint 0 behind its target: median {np.median(errors):.3f} rad",
        "the arm holds after 200 ms",
    )
    assert len(came) > 0.5 * STREAM_S * 100


def test_stops(report, twin: TwinProcess, arm: ArmProcess, tmp_path: Path) -> None:
    random, start = np.random.default_rng(0), arm.read().positions
    rests, speeds = [], []
    for _ in range(STOPS):
        file = tmp_path / "trace.npz"
        twin.tell(f"trace {file}")
        target = start + random.uniform(-0.4, 0.4, 7) * [1, 0.3, 1, 0.3, 1, 0.3, 1]
        due = time.monotonic() + random.uniform(0.2, 0.6)
        while time.monotonic() < due:
            arm.lead(target, np.zeros(7), 0.0)
            time.sleep(0.02)
        at = time.monotonic()
        arm.halt()
        time.sleep(1.0)
        twin.tell("trace end")
        arm.release()
        arm.recover()
        with np.load(file) as trace:
            quickest = np.abs(trace["velocities"]).max(axis=1)
            after = int(np.searchsorted(trace["stamps"], at))
            moving = np.flatnonzero(quickest[after:] >= STILL_RAD_S)
            rests.append(trace["stamps"][after + moving[-1]] - at if len(moving) else 0.0)
            speeds.append(float((np.abs(trace["velocities"]) / LIMITS.velocity).max()))
    p50, p99 = np.percentile(rests, [50, 99]) * 1e3
    report(
        "stop of Sawyer's twin amid motions of all joints -> rest",
        f"median {p50:.0f} ms, p99 {p99:.0f} ms, n = {STOPS}",
        f"greatest share of a joint's speed limit {max(speeds):.2f}",
        "300 ms",
    )
