"""What is cloned from a mapped dataset: rows, chunks, words, pictures, and the range of the actions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from plain_dataset import DATA, EPISODES, LENGTHS, RECIPE, TASKS, change_column, level, write_dataset

from openral_core.errors import ContractError, InstallationError, PolicyError
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import PolicyBatch
from openral_data.episode import encode_png
from openral_data.lerobot_v3 import Dataset, open_dataset
from openral_policy_nodes.families.factory import load_policy
from openral_policy_nodes.families.mini.network import MiniConfig, MiniNetwork
from openral_rskill.compatibility import match, package_findings
from openral_rskill.mini.checkpoint import save_network
from openral_rskill.registry import load_package, resolve
from openral_training import bc
from openral_training.frames import frame_cache
from openral_training.mapping.dataset_recipe import SkillRecipe, load_cloning_recipe
from openral_training.mapping.mapped_data import mapped_data, recorded_starts, write_manifest
from openral_training.rl.policies.mini_actor import MiniActor
from openral_training.rl.settings.initial_model import MiniActorConfig

CAMERAS = ("observation.images.camera1", "observation.images.camera2")
RADIANS = RECIPE.replace("delta_ee_3d_plus_gripper", "joint_positions").replace(", step_m: 0.01", "")


def recipe(folder: Path, text: str = RECIPE) -> SkillRecipe:
    (folder / "cubes.yaml").write_text(text)
    loaded = load_cloning_recipe(folder / "cubes.yaml")
    assert isinstance(loaded, SkillRecipe)
    return loaded


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return open_dataset(write_dataset(tmp_path_factory.mktemp("plain") / "dataset"))


def test_rows_are_what_the_recipe_puts_together(dataset: Dataset, tmp_path: Path) -> None:
    data = mapped_data(dataset, recipe(tmp_path))
    demos, ends = data.demonstrations, np.cumsum(LENGTHS)
    assert data.model.cameras == CAMERAS
    assert data.views == ("observation.images.front", "observation.images.wrist")
    assert data.sentences == ((TASKS[0],), (TASKS[1], "shove the cube away"))
    assert demos.frames.tolist() == list(range(sum(LENGTHS)))
    assert demos.state[31].tolist() == [1.0, 1.0, 0.5, 1.0], "x, y, z, and the left finger alone"
    assert demos.task.tolist() == [0] * 30 + [1] * 24 + [0] * 40
    assert demos.chunk.shape == (94, 16, 4)
    assert demos.ahead[ends[0] - 3 : ends[0] + 1].tolist() == [3, 2, 1, 16]
    action = dataset.columns(["action"])["action"]
    np.testing.assert_array_equal(demos.chunk[20, :10], action[20:30])
    np.testing.assert_array_equal(demos.chunk[20, 10:], np.repeat(action[29:30], 6, axis=0))


def test_numbers_come_in_the_units_of_the_manifest(dataset: Dataset, tmp_path: Path) -> None:
    turned = "{feature: observation.fingers, columns: [0], scale: -2, offset: 1}"
    text = RECIPE.replace("{feature: observation.fingers, columns: [0]}", turned)
    text = text.replace("words:", "action:\n  - {feature: action, scale: 0.5}\nwords:")
    demos = mapped_data(dataset, recipe(tmp_path, text)).demonstrations
    assert demos.state[:2, 3].tolist() == [1.0, -1.0]
    np.testing.assert_array_equal(demos.chunk[:, 0], dataset.columns(["action"])["action"] * np.float32(0.5))


def test_rows_may_be_lists_of_any_length(dataset: Dataset, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = write_dataset(tmp_path / "dataset")
    table = pq.read_table(root / DATA)
    place = table.schema.get_field_index("action")
    lists = pa.array(table["action"].to_pylist(), pa.list_(pa.float64()))
    pq.write_table(table.set_column(place, "action", lists), root / DATA)
    found = mapped_data(open_dataset(root), recipe(tmp_path)).demonstrations.chunk
    np.testing.assert_array_equal(found, mapped_data(dataset, recipe(tmp_path)).demonstrations.chunk)


def test_an_episode_that_is_left_out_is_neither_drawn_nor_read(dataset: Dataset, tmp_path: Path) -> None:
    data = mapped_data(dataset, recipe(tmp_path, RECIPE.replace("words:", "leave_out: [0, 2]\nwords:")))
    demos = data.demonstrations
    assert demos.frames.tolist() == list(range(30, 54))
    assert data.sentences == ((TASKS[1], "shove the cube away"),)
    assert set(demos.task[demos.frames]) == {0}
    assert np.isnan(demos.chunk[0]).all()
    network = bc.prepare(demos, data.model, None)
    assert torch.isfinite(network.state_mean).all()


def test_pictures_stand_at_their_rows(tmp_path: Path) -> None:
    data = open_dataset(write_dataset(tmp_path / "dataset"))
    steps = [(episode, step) for episode, length in enumerate(LENGTHS) for step in range(length)]
    for camera, sign in (("observation.images.front", 1), ("observation.images.wrist", -1)):
        seen = frame_cache(data, camera, 96).mean((1, 2, 3))
        meant = [level(*where) if sign > 0 else 255 - level(*where) for where in steps]
        np.testing.assert_allclose(seen, meant, atol=2)


def test_a_dataset_that_was_written_again_is_decoded_again(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "dataset")
    frame_cache(open_dataset(root), "observation.images.front", 32)
    cache = root / ".cache" / "observation.images.front_32.npy"
    before = cache.stat().st_mtime
    frame_cache(open_dataset(root), "observation.images.front", 32)
    assert cache.stat().st_mtime == before
    os.utime(root / DATA, (before + 5, before + 5))
    frame_cache(open_dataset(root), "observation.images.front", 32)
    assert cache.stat().st_mtime != before


def test_a_dataset_that_was_replaced_by_an_older_one_is_decoded_again(tmp_path: Path) -> None:
    """As a backup that keeps the times of files (`tar -x`, `rsync -t`) restores it."""
    camera, root = "observation.images.front", write_dataset(tmp_path / "dataset")
    new = np.array(frame_cache(open_dataset(root), camera, 32))
    front = next((root / "videos" / camera).rglob("*.mp4"))
    wrist = next((root / "videos" / "observation.images.wrist").rglob("*.mp4"))
    shutil.copyfile(wrist, front)
    os.utime(front, (1e9, 1e9))
    old = frame_cache(open_dataset(root), camera, 32)
    assert np.abs(old.astype(int) - new).max() > 50
    np.testing.assert_array_equal(old, frame_cache(open_dataset(root), "observation.images.wrist", 32))


def test_episodes_of_a_video_may_stand_in_any_order(tmp_path: Path) -> None:
    root = write_dataset(tmp_path / "dataset")
    name = "videos/observation.images.front/from_timestamp"
    change_column(root / EPISODES, name, lambda starts: [starts[2], starts[1], starts[0]])
    images = open_dataset(root).images("observation.images.front")
    assert abs(float(next(images).mean()) - level(2, 0)) < 2


def test_images_may_be_stored_in_the_rows(tmp_path: Path) -> None:
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    root = write_dataset(tmp_path / "dataset")
    png = encode_png(np.full((96, 128, 3), 77, np.uint8))
    table = pq.read_table(root / DATA)
    cells = pa.array([{"bytes": png, "path": "frame.png"}] * len(table))
    pq.write_table(table.append_column("observation.images.front", cells), root / DATA)
    info = json.loads((root / "meta/info.json").read_text())
    info["features"]["observation.images.front"]["dtype"] = "image"
    (root / "meta/info.json").write_text(json.dumps(info))
    data = open_dataset(root)
    assert mapped_data(data, recipe(tmp_path)).views[0] == "observation.images.front"
    assert (frame_cache(data, "observation.images.front", 32) == 77).all()


def test_commands_stay_commands_and_other_units_are_scaled(dataset: Dataset, tmp_path: Path) -> None:
    assert not mapped_data(dataset, recipe(tmp_path)).model.scaled
    data = mapped_data(dataset, recipe(tmp_path, RADIANS))
    assert data.model.scaled
    network = bc.prepare(data.demonstrations, data.model, None)
    action = dataset.columns(["action"])["action"]
    room = 0.1 * (action.max(0) - action.min(0))
    np.testing.assert_allclose(network.action_low, action.min(0) - room, atol=1e-6)
    np.testing.assert_allclose(network.action_high, action.max(0) + room, atol=1e-6)


def test_a_scaled_network_answers_within_its_range() -> None:
    network = MiniNetwork(MiniConfig(scaled=True))
    network.action_low.copy_(torch.tensor([-3.0, 0.0, 10.0, 1.0]))
    network.action_high.copy_(torch.tensor([3.0, 1.0, 20.0, 2.0]))
    chunks, _ = network.proposals(torch.randn(64, network.width) * 100)
    made = chunks.reshape(-1, 4)
    assert (made >= network.action_low - 1e-4).all()
    assert (made <= network.action_high + 1e-4).all()
    middle = network.proposals(torch.zeros(1, network.width))[0].mean((0, 1, 2))
    assert (middle - torch.tensor([0.0, 0.5, 15.0, 1.5])).abs().max() < 0.5


@pytest.mark.parametrize(
    "text", [pytest.param(RECIPE, id="commands", marks=pytest.mark.slow), pytest.param(RADIANS, id="joints")]
)
def test_a_trained_skill_answers_with_chunks_and_learns(dataset: Dataset, tmp_path: Path, text: str) -> None:
    out, seen = tmp_path / "skill", []
    config = bc.BcConfig(steps=24, batch_size=8, warmup_steps=2, learning_rate=2e-3)
    bc.train(dataset, recipe(tmp_path, text), out, config, progress=lambda step, loss: seen.append(loss))
    assert np.mean(seen[-4:]) < 0.8 * np.mean(seen[:2])
    package = load_package(out)
    assert package.manifest.action_contract is not None
    assert package.manifest.action_contract.control_hz == 20
    starts = package.manifest.start_poses
    assert [start.task for start in starts] == [None], "no task of the manifest has the dataset's sentences"
    assert min(start.tolerance_m for start in starts) >= 0.012
    policy = load_policy(package)
    images = {key: np.zeros((2, 96, 96, 3), np.uint8) for key in CAMERAS}
    chunk = policy.predict(PolicyBatch(images, np.zeros((2, 4), np.float32), list(TASKS), ["a", "b"]))
    assert chunk.shape == (2, 16, 4)
    assert np.isfinite(chunk).all()


@pytest.mark.slow
def test_an_interrupted_run_goes_on_to_the_same_weights(dataset: Dataset, tmp_path: Path) -> None:
    config, plan = bc.BcConfig(steps=4, batch_size=4, save_every=2), recipe(tmp_path)

    def stop(step: int, loss: float) -> None:
        if step == 3:
            raise KeyboardInterrupt

    bc.train(dataset, plan, tmp_path / "whole", config)
    with pytest.raises(KeyboardInterrupt):
        bc.train(dataset, plan, tmp_path / "broken", config, progress=stop)
    assert not (tmp_path / "broken" / "rskill.yaml").exists()
    other = recipe(tmp_path, RECIPE.replace("shove", "nudge"))
    with pytest.raises(ContractError, match="belongs to another run"):
        bc.train(dataset, other, tmp_path / "broken", config)
    bc.train(dataset, plan, tmp_path / "broken", config)
    whole, broken = (tmp_path / name / "model.safetensors" for name in ("whole", "broken"))
    assert whole.read_bytes() == broken.read_bytes()


def test_a_run_goes_on_with_no_data_that_were_changed_since(tmp_path: Path) -> None:
    root, plan = write_dataset(tmp_path / "dataset"), recipe(tmp_path)
    config = bc.BcConfig(steps=4, batch_size=4, save_every=2)

    def stop(step: int, loss: float) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bc.train(open_dataset(root), plan, tmp_path / "out", config, progress=stop)
    change_column(root / DATA, "action", lambda rows: [[0.5 * value for value in row] for row in rows])
    with pytest.raises(ContractError, match="belongs to another run"):
        bc.train(open_dataset(root), plan, tmp_path / "out", config)


def test_episodes_of_another_outcome_decide_nothing(tmp_path: Path) -> None:
    """The second episode failed: it is short, holds a nan, began elsewhere, and is not trained on."""
    root = write_dataset(tmp_path / "dataset")
    table = pq.read_table(root / EPISODES)
    outcomes = pa.array(["success", "failure", "success"])
    pq.write_table(table.append_column("outcome", outcomes), root / EPISODES)
    begin, end = LENGTHS[0], LENGTHS[0] + LENGTHS[1]
    change_column(
        root / DATA,
        "action",
        lambda rows: [*rows[:begin], *([[float("nan")] * 4] * (end - begin)), *rows[end:]],
    )
    chosen = RECIPE.replace("words:", "only_outcome: success\nwords:")
    plan = recipe(tmp_path, chosen.replace("chunk_size: 16", f"chunk_size: {LENGTHS[1] + 1}"))
    change_column(
        root / DATA,
        "observation.state",
        lambda rows: [[7.0, *row[1:]] if begin <= number < end else row for number, row in enumerate(rows)],
    )
    dataset = open_dataset(root)
    (start,) = recorded_starts(dataset, plan)
    assert start.position[0] == 1.0, "x is the number of the episode, 0 and 2"
    frames = mapped_data(dataset, plan).demonstrations.frames
    assert frames.tolist() == [*range(begin), *range(end, sum(LENGTHS))]
    write_manifest(tmp_path, dataset, plan)
    assert "on 2 episodes of" in (tmp_path / "rskill.yaml").read_text()


def test_a_skill_of_joints_needs_no_layout_to_be_trained(dataset: Dataset, tmp_path: Path) -> None:
    text = RADIANS.replace("{layout: ee_pos3_gripper1, dim: 4}", "{dim: 4}").replace("[sawyer]", "[ur5e]")
    bc.train(dataset, recipe(tmp_path, text), tmp_path / "skill", bc.BcConfig(steps=1, batch_size=2))
    manifest = load_package(tmp_path / "skill").manifest
    assert all(row.ok for row in package_findings(manifest, folder=tmp_path / "skill"))
    scene = load_scene("metaworld_drawer")
    rows = match(manifest, load_robot(scene.robot_id), scene)
    assert {"state", "embodiment", "action representation"} <= {row.gate for row in rows if not row.ok}


def test_reinforcement_learning_begins_with_commands_only(tmp_path: Path) -> None:
    shutil.copytree(resolve("mini-metaworld").folder, tmp_path / "skill")
    config = MiniConfig(scaled=True)
    save_network(MiniNetwork(config), config, tmp_path / "skill", {})
    begin = MiniActorConfig(model_path="skill")
    with pytest.raises(PolicyError, match=r"has actions that are not within -1..1"):
        MiniActor(load_package(tmp_path / "skill"), begin, tasks=[], value_width=1, temperature=1.0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_said(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InstallationError, match="finds no GPU here; write --device cpu"):
        bc.train(dataset, recipe(tmp_path), tmp_path / "skill", device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_clones_as_well(dataset: Dataset, tmp_path: Path) -> None:
    seen: list[float] = []
    config = bc.BcConfig(steps=24, batch_size=8, warmup_steps=2, learning_rate=2e-3)
    plan = recipe(tmp_path, RADIANS)
    bc.train(
        dataset, plan, tmp_path / "skill", config, device="cuda", progress=lambda _, loss: seen.append(loss)
    )
    assert np.mean(seen[-4:]) < 0.8 * np.mean(seen[:2])
    assert load_policy(load_package(tmp_path / "skill"))
