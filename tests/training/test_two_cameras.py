"""A reward model of two cameras: films of both, training from weights of one, and the cases that it is judged on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from openral_core.errors import ContractError, NotFoundError
from openral_data.lerobot_v3 import DatasetWriter, open_dataset
from openral_reward_monitor.models.mini.network import MiniRewardConfig, MiniRewardNetwork
from openral_rskill.mini.checkpoint import save_network
from openral_training import bc, collect, reward
from openral_training.reward_eval.cases import cases
from openral_training.rl.envs.shaping import ProgressModel
from openral_training.rl.settings.reward import ProgressReward
from openral_training.training_recipe import Recipe, metadata_of

ROOT = Path(__file__).resolve().parents[2]
VIEW = "corner2+behindGripper"


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    words = {"train": ["open the drawer"], "heldout": ["pull it open"]}
    return Recipe.model_validate(
        {
            "scene": "metaworld_mt10_fast",
            "cameras": VIEW.split("+"),
            "record_every": 8,
            "train_init_ids": {"first": 0, "count": 2},
            "heldout_init_ids": {"first": 10, "count": 2},
            "tasks": {"drawer-open-v3": {**words, "scene": "metaworld_drawer"}},
        }
    )


def test_a_scene_without_a_camera_of_the_recipe_gets_it_from_the_recipes_scene(recipe: Recipe) -> None:
    cameras = recipe.scene_for("drawer-open-v3").cameras
    assert [camera.name for camera in cameras] == VIEW.split("+")
    assert cameras[1].feature_key == "observation.images.camera2"
    alone = recipe.model_copy(update={"scene": None})
    with pytest.raises(NotFoundError, match="no camera 'behindGripper'; it has corner2"):
        alone.scene_for("drawer-open-v3")


@pytest.mark.slow
def test_training_of_two_cameras_goes_on_from_weights_of_one(recipe: Recipe, tmp_path: Path) -> None:
    shards = list(collect.collect(recipe, tmp_path / "shards", collect.plan(recipe, starts=1, failures=1)))
    episodes = list(collect.read(shards))
    writer = DatasetWriter(tmp_path, metadata_of(recipe))
    for episode in episodes:
        writer.add(episode)
    writer.close()
    dataset = open_dataset(tmp_path)
    small = MiniRewardConfig(image_size=32, hidden=16, fine=8, before=True)
    save_network(MiniRewardNetwork(small), small, tmp_path / "one", {})
    config = bc.BcConfig(steps=1, batch_size=4)
    trained = reward.train(dataset, recipe, tmp_path / "two", config, small, warm_start=tmp_path / "one")
    assert trained.config.views == json.loads((tmp_path / "two/config.json").read_text())["views"] == 2
    (case,) = [
        one
        for one in cases(episodes[0], recipe, VIEW, {"drawer-open-v3": ["x"]})
        if one.behaviour == "expert"
    ]
    assert case.frames().shape == (len(episodes[0]), 128, 256, 3)
    left, right = case.frames([0])[0, :, :128], case.frames([0])[0, :, 128:]
    assert np.abs(left.astype(int) - right).mean() > 10


def test_a_further_camera_counts_only_once_it_is_trained() -> None:
    one = MiniRewardNetwork(MiniRewardConfig(image_size=32, fine=8, before=True)).eval()
    two = reward.with_views(one, 2).eval()
    images, words = torch.randint(0, 256, (3, 12, 32, 32), dtype=torch.uint8), torch.randn(3, 384)
    for a, b in zip(two.score(images, words), one.score(images[:, :6], words), strict=True):
        torch.testing.assert_close(a, b)
    two(images, words)[1].sum().backward()
    first = two.head[0].weight
    assert isinstance(first, torch.nn.Parameter)
    assert first.grad is not None
    assert first.grad[:, one.trunk.out_features :].any(), "else nothing would ever be learnt of it"


def test_rl_refuses_a_reward_model_of_two_cameras(tmp_path: Path) -> None:
    manifest = (ROOT / "rskills/mini-progress/rskill.yaml").read_text()
    needed = "  - {modality: rgb, min_width: 96, min_height: 96}\n"
    keyed = "".join(
        f"  - {{modality: rgb, vla_feature_key: observation.images.camera{number}}}\n" for number in (1, 2)
    )
    assert needed in manifest
    (tmp_path / "rskill.yaml").write_text(manifest.replace(needed, keyed))
    with pytest.raises(
        ContractError, match="looks through 2 cameras, and an attempt keeps the images of one"
    ):
        ProgressModel(ProgressReward(model_path=str(tmp_path), weight=0.1), {})
