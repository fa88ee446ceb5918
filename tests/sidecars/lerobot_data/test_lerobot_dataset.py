"""A dataset that LeRobot's own library recorded, cloned into a skill."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plain_dataset import FRONT, LENGTHS, RECIPE, TASKS, WRIST, level, write_dataset

from openral_core.types import PolicyBatch
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.families.lerobot.spec import SPEC
from openral_rskill.registry import load_package
from openral_sidecar.environment.build import ensure_environment

ROOT = Path(__file__).parents[3]
OPENRAL = str(Path(sys.executable).parent / "openral")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("lerobot") / "cubes"
    command = [
        str(ensure_environment(SPEC)),
        str(Path(__file__).with_name("lerobot_recording.py")),
        str(folder),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    subprocess.run(command, env=environment, check=True, timeout=600)
    return open_dataset(folder)


def test_its_rows_and_words_are_read(recorded: Dataset, tmp_path: Path) -> None:
    by_hand = open_dataset(write_dataset(tmp_path / "dataset"))
    assert recorded.sentences() == by_hand.sentences() == dict(enumerate(TASKS))
    assert recorded.cameras == by_hand.cameras == (FRONT, WRIST)
    numbers = [name for name in by_hand.info["features"] if name not in by_hand.cameras]
    for name in numbers:
        found, meant = recorded.columns([name])[name], by_hand.columns([name])[name]
        np.testing.assert_allclose(found, meant, atol=1e-6, err_msg=name)
    for name, values in by_hand.episodes.items():
        meant = pytest.approx(values) if "stamp" in name else values
        assert recorded.episodes[name] == meant, name


def test_no_fault_is_found_in_it(recorded: Dataset) -> None:
    assert list(dataset_faults(recorded.root)) == []


def test_its_videos_are_decoded_frame_by_frame(recorded: Dataset) -> None:
    steps = [(episode, step) for episode, length in enumerate(LENGTHS) for step in range(length)]
    for camera, sign in ((FRONT, 1), (WRIST, -1)):
        greys = [float(image.mean()) for image in recorded.images(camera)]
        meant = [level(*where) if sign > 0 else 255 - level(*where) for where in steps]
        np.testing.assert_allclose(greys, meant, atol=2)


def test_it_is_cloned_into_a_skill(recorded: Dataset, tmp_path: Path) -> None:
    (tmp_path / "cubes.yaml").write_text(RECIPE)
    words = ["train", "bc", "--dataset", str(recorded.root), "--recipe", "cubes.yaml", "--out", "skill"]
    for command in ([*words, "--steps", "20"], ["rskill", "check", "skill"]):
        done = subprocess.run(
            [OPENRAL, *command], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    policy = load_policy(load_package(tmp_path / "skill"))
    images = {f"observation.images.camera{n}": np.zeros((2, 96, 96, 3), np.uint8) for n in (1, 2)}
    chunk = policy.predict(PolicyBatch(images, np.zeros((2, 4), np.float32), list(TASKS), ["a", "b"]))
    assert chunk.shape == (2, 16, 4)
    assert np.isfinite(chunk).all()
