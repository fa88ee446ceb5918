"""What our recorder wrote, loaded by LeRobot's own library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_policy_nodes.families.lerobot.spec import SPEC
from openral_sidecar.environment.build import ensure_environment

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "data"))  # one deployment for the tests of both libraries

from recorded_deployment import COLUMNS, RecordedDeployment, grey  # noqa: E402

WORDS = ("push the cube", "pull the cube")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    root = tmp_path_factory.mktemp("recorded")
    world = RecordedDeployment(root, "episodes")
    for goal, words in zip(("a" * 32, "b" * 32), WORDS, strict=True):
        world.goal(goal)
        world.run(80, goal_id=goal, words=words)
        world.goal("")
    world.recorder.close()
    return open_dataset(root / "dataset")


@pytest.fixture(scope="module")
def theirs(ours: Dataset) -> dict[str, Any]:
    """What LeRobot finds in it."""
    script = Path(__file__).with_name("lerobot_reading.py")
    command = [str(ensure_environment(SPEC)), str(script), str(ours.root)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_it_finds_the_episodes_cameras_and_sentences(ours: Dataset, theirs: dict[str, Any]) -> None:
    assert (theirs["frames"], theirs["episodes"], theirs["fps"]) == (len(ours), 2, 20)
    assert tuple(theirs["cameras"]) == ours.cameras
    lengths = ours.episodes["length"]
    assert theirs["tasks"] == [WORDS[0]] * lengths[0] + [WORDS[1]] * lengths[1]


def test_it_decodes_the_picture_of_each_frame(ours: Dataset, theirs: dict[str, Any]) -> None:
    steps = np.round(ours.columns(["stamp_s"])["stamp_s"].ravel() * COLUMNS.control_hz).astype(int)
    for camera in ours.cameras:
        np.testing.assert_allclose(theirs["greys"][camera], [grey(step) for step in steps], atol=2)


def test_it_reads_the_numbers_and_their_statistics(ours: Dataset, theirs: dict[str, Any]) -> None:
    for name, found in theirs["numbers"].items():
        meant = ours.columns([name])[name].reshape(len(ours), -1)
        np.testing.assert_allclose(np.array(found, float), meant.astype(float), atol=1e-5, err_msg=name)
    state = ours.columns(["observation.state"])["observation.state"]
    np.testing.assert_allclose(theirs["mean"], state.mean(0), rtol=1e-4)
    assert theirs["picture_mean"] == [3, 1, 1]
