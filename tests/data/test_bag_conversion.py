"""A recording becomes bags, and bags become a recording again: what each frame held is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from recorded_deployment import EVERY, HEIGHT, HZ, WIDTH, RecordedDeployment

from openral_core.errors import DatasetError, OutputError
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_data.recorded_columns import RecordedColumns
from openral_data.ros.bag_conversion import convert_bags
from openral_data.ros.bag_export import export_bags

NUMBERS = (
    *("observation.state", "observation.joints", "action", "action.executed", "action.commanded"),
    *("action.held", "intervention", "stamp_s"),
)
SCENE = {
    "scene": {
        "id": "fake",
        "backend": "mock",
        "observation_height": HEIGHT,
        "observation_width": WIDTH,
        "cameras": [
            {"name": f"c{n}", "feature_key": f"observation.images.camera{n}", "rate_hz": HZ / EVERY}
            for n in (1, 2)
        ],
        "backend_options": {"family": "fake", "tasks": ["push"]},
    },
    "robot_id": "sawyer",
    "control_hz": HZ,
    "action": {
        "representation": "delta_ee_3d_plus_gripper",
        "dim": 4,
        "low": [-1] * 4,
        "high": [1] * 4,
        "step_m": 0.01,
    },
    "workspace": {"low": [-1, -1, -1], "high": [1, 1, 1]},
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scene") / "fake.yaml"
    path.write_text(yaml.safe_dump(SCENE))
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, scene: Path) -> Dataset:
    """A policy that is corrected and goes on, and an operator who demonstrates."""
    described = load_scene(str(scene))
    columns = RecordedColumns.of(described, load_robot(described.robot_id), scene.stem)
    root = tmp_path_factory.mktemp("recorded")
    world = RecordedDeployment(root, "episodes", columns=columns)
    world.goal("a" * 32)
    world.run(40, goal_id="a" * 32)
    world.hand("b" * 32)
    world.run(20, goal_id="b" * 32)
    world.run(6)
    world.hand("")
    world.run(30, goal_id="a" * 32)
    world.goal("")
    world.hand("c" * 32)
    world.run(48, goal_id="c" * 32, words="pull the cube")
    world.hand("")
    world.recorder.close()
    return open_dataset(root / "dataset")


@pytest.mark.parametrize("whole", [True, False])
def test_bags_of_a_recording_give_the_recording_again(
    recorded: Dataset, scene: Path, tmp_path: Path, whole: bool
) -> None:
    assert export_bags(recorded, str(scene), tmp_path / "there") == 2
    bags = sorted((tmp_path / "there" / "bags").iterdir())
    count = convert_bags(bags, str(scene), tmp_path / "back", whole=whole, say=lambda line, trouble: None)
    assert count == 2
    assert list(dataset_faults(tmp_path / "back" / "dataset")) == []
    back = open_dataset(tmp_path / "back" / "dataset")
    for name in ("tasks", "length", "skill", "skill_version", "goal_id", "interventions", "missing_steps"):
        assert back.episodes[name] == recorded.episodes[name], name
    ours, theirs = recorded.columns(NUMBERS), back.columns(NUMBERS)
    for name in NUMBERS:
        np.testing.assert_allclose(theirs[name], ours[name], atol=1e-6, err_msg=name)
    assert ours["intervention"].any()
    assert not ours["intervention"].all()
    assert ours["action.held"].any()
    for camera in recorded.cameras:
        for image, other in zip(recorded.images(camera), back.images(camera), strict=True):
            assert abs(float(image.mean()) - float(other.mean())) < 3.0


def test_bags_are_not_written_over(recorded: Dataset, scene: Path, tmp_path: Path) -> None:
    export_bags(recorded, str(scene), tmp_path)
    with pytest.raises(OutputError, match="holds bags already"):
        export_bags(recorded, str(scene), tmp_path)


def test_a_recording_of_another_scene_is_refused(recorded: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"observation\.images\.camera1.*--scene"):
        export_bags(recorded, "metaworld_drawer", tmp_path)
