"""A reset to a task whose world has its arm and its cameras elsewhere: frames and lenses are told anew."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge_observer import DOMAIN
from openral.srv import ResetScene
from two_worlds_bridge import ASIDE_M, TASKS

PROGRAM = Path(__file__).with_name("two_worlds_bridge.py")


@pytest.fixture
def bridge(fake_scene: Path, tmp_path: Path) -> Iterator[None]:
    """A bridge of two worlds."""
    environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "OMP_NUM_THREADS": "1"}
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    process = subprocess.Popen([sys.executable, str(PROGRAM), str(fake_scene)], env=environment)
    yield
    process.kill()
    process.wait()


def test_frames_and_lenses_are_those_of_the_present_world(bridge: None, observer: Any) -> None:
    def places() -> dict[str, float]:
        """[m] x of the newest static frame of each child in the world."""
        return {
            frame.child_frame_id: round(frame.transform.translation.x, 6)
            for message in observer.seen["static"]
            for frame in message.transforms
            if frame.header.frame_id == "world"
        }

    observer.until(lambda: observer.seen["static"] and observer.seen["info"])
    before, lens = places(), observer.seen["info"][-1].k[0]
    assert set(before) == {"right_arm_base_link", "corner2_optical_frame"}
    for task, aside_m in ((TASKS[1], ASIDE_M), (TASKS[0], 0.0)):
        assert observer.call(ResetScene, "/openral/sim/reset", task=task, seed=0).ok
        wanted = {name: round(x + aside_m, 6) for name, x in before.items()}
        observer.until(lambda wanted=wanted: places() == wanted, 20.0)
        other = aside_m > 0
        observer.until(lambda other=other: (observer.seen["info"][-1].k[0] != lens) == other, 20.0)
    told = len(observer.seen["static"])
    assert observer.call(ResetScene, "/openral/sim/reset", task=TASKS[0], seed=1).ok
    count = len(observer.seen["info"])
    observer.until(lambda: len(observer.seen["info"]) > count + 4)
    assert len(observer.seen["static"]) == told, "nothing new to tell"
