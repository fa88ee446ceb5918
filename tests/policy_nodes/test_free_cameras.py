"""The policy node on an arm whose camera runs freely: pictures are late and have stamps of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from builtin_interfaces.msg import Time
from fake_bridge import DT_NS, FakeBridge, PolicyProcess, result_of, wait_for
from sensor_msgs.msg import Image

from openral_policy_nodes.goal_supervisor import GoalOutcome

WORDS = "open the drawer"
PAIRING_NS = 30_000_000
LATE_NS = 40_000_000
PERIOD_STEPS = 3


class FreeCameraBridge(FakeBridge):
    """States at 80 Hz by the wall clock; pictures at 27 Hz that come 40 ms late, stamped between two states."""

    def __init__(self) -> None:
        self.states: list[int] = []
        self.taken: list[int] = []
        self.off_ns = 0
        """[ns] by which the camera's clock is wrong."""
        super().__init__()

    def _publish(self, step: int) -> None:
        self.now_ns = time.time_ns() // DT_NS * DT_NS
        self.observe(_time(self.now_ns), with_image=False)
        self.states.append(self.now_ns)
        if step % 16 == 0:
            self.publish_status()
        if step % PERIOD_STEPS == 0:
            image = Image(height=self.size, width=self.size, encoding="rgb8", step=3 * self.size)
            image.data = np.full(3 * self.size**2, step % 256, np.uint8).tobytes()
            stamp = time.time_ns() - LATE_NS + self.off_ns
            image.header.stamp = _time(stamp)
            self.taken.append(stamp)
            self._image.publish(image)


def _time(stamp_ns: int) -> Time:
    return Time(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)


def nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


@pytest.fixture
def bridge() -> Iterator[FreeCameraBridge]:
    made = FreeCameraBridge()
    yield made
    made.close()


@pytest.fixture
def arm_scene(tmp_path: Path, scene_path: Path) -> Path:
    path = tmp_path / "arm.yaml"
    arm = {"driver": "fake", "address": "arm", "pairing_s": 1e-9 * PAIRING_NS}
    path.write_text(yaml.safe_dump({**yaml.safe_load(scene_path.read_text()), "arm": arm}))
    return path


def test_pictures_are_answered_with_the_state_of_their_time(
    bridge: Any, arm_scene: Path, make_skill: Any
) -> None:
    process = PolicyProcess(make_skill().folder, arm_scene, use_sim_time=False)
    try:
        handle = bridge.send(instruction=WORDS, deadline_s=60.0)
        wait_for(lambda: len(bridge.chunks) > 10, "chunks")
        answered = [nanoseconds(chunk.header.stamp) for chunk in bridge.chunks]
        assert answered == sorted(set(answered))
        assert set(answered) <= set(bridge.states)
        taken = np.array(bridge.taken)
        assert all(np.abs(taken - stamp).min() <= PAIRING_NS for stamp in answered)
        bridge.off_ns = -5_000_000_000
        lost = result_of(handle)
        assert (GoalOutcome(lost.outcome), lost.check) == (GoalOutcome.FAILED, "observation_contract")
        assert "s apart at least, arm.pairing_s of the scene allows 0.03 s" in lost.message
        bridge.off_ns = 500_000_000
        wait_for(
            lambda: "ahead" in result_of(bridge.send(instruction=WORDS)).message, "a clock that is ahead"
        )
        bridge.off_ns = 0
        wait_for(
            lambda: result_of(bridge.send(instruction=WORDS, deadline_s=0.5)).check == "deadline", "a goal"
        )
    finally:
        process.kill()
        print(process.log)
