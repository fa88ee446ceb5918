"""A collection clears what an earlier one left, and nothing else that lies in its folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from openral_core.errors import DatasetError, NotFoundError, OutputError
from openral_data.episode import Episode, load_shard, save_shard
from openral_data.lerobot_v3 import begin_collection
from openral_training import commands, world_model_commands
from openral_training.detector.pictures import are_drawn
from openral_training.detector.recipe import load_detector_recipe
from openral_training.training_recipe import collection_settings, load_recipe, recipe_file

COMMANDS = [
    (commands.app, ["collect"]),
    (world_model_commands.app, ["collect", "--config", "drawer_ppo"]),
]


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_a_folder_that_holds_another_dataset_is_refused_and_left_alone(number: int, tmp_path: Path) -> None:
    for name in ("data/chunk-000/file-000.parquet", "meta/info.json", ".cache/frames"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    app, words = COMMANDS[number]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert isinstance(done.exception, OutputError)
    assert str(done.exception).endswith("was not collected; name another --out")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_collection_that_was_stopped_goes_on(tmp_path: Path) -> None:
    shards = begin_collection(tmp_path / "new", {"size": 32})
    (shards / "episode.npz").write_bytes(b"")
    assert begin_collection(tmp_path / "new", {"size": 32}) == shards
    assert sorted(path.name for path in shards.iterdir()) == ["collection.json", "episode.npz"]


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.9], ids=["empty", "ten bytes", "a half", "most"])
def test_a_damaged_shard_is_named_with_what_to_do(kept: float, tmp_path: Path) -> None:
    """As after a power cut."""
    path, one = tmp_path / "unit.npz", np.zeros((2, 1), np.float32)
    unit = Episode("open", "expert", 0, 0, {"front": [b"x" * 999] * 2}, *[one] * 7)  # type: ignore[arg-type]
    save_shard(path, [unit])
    assert [len(episode) for episode in load_shard(path)] == [2]
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept if kept > 1 else kept * len(whole))])
    with pytest.raises(
        DatasetError, match=r"unit\.npz: is damaged \(.*\); delete it, and the same command makes"
    ):
        load_shard(path)


@pytest.mark.parametrize("content", [b"", b"PK damaged"])
def test_damaged_pictures_of_a_detector_are_drawn_again(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "pictures.npz").write_bytes(content)
    assert not are_drawn(tmp_path / "pictures.npz", load_detector_recipe("mini_detector"), 5, 0)


def test_a_collection_with_other_settings_is_not_gone_on_with(tmp_path: Path) -> None:
    begin_collection(tmp_path / "new", {"size": 32, "of": {"seed": 1}})
    with pytest.raises(
        OutputError, match=r"other settings: size \(32 there, 64 here\), of\.seed \(1 there, 2"
    ):
        begin_collection(tmp_path / "new", {"size": 64, "of": {"seed": 2}})


@pytest.mark.parametrize(("key", "there"), [("turn_noise", 0.15), ("picture_delay_s", 0.2)])
def test_demonstrations_with_another_disturbance_are_not_mixed(
    key: str, there: float, tmp_path: Path
) -> None:
    shipped = yaml.safe_load(recipe_file("mini_metaworld_mt10").read_text(encoding="utf-8"))
    first, second, out = tmp_path / "first.yaml", tmp_path / "second.yaml", tmp_path / "new"
    first.write_text(yaml.safe_dump(shipped | {key: there}))
    second.write_text(yaml.safe_dump(shipped | {key: 0.05}))
    begin_collection(out, collection_settings(load_recipe(first)))
    words = ["collect", "--recipe", str(second), "--task", "reach-v3", "--starts", "1", "--out", str(out)]
    refused = CliRunner().invoke(commands.app, words).exception
    assert isinstance(refused, OutputError)
    assert str(refused) == (
        f"{out} holds a collection with other settings: {key} ({there} there, 0.05 here); name another --out"
    )


def test_a_task_that_the_recipe_lacks_is_told_before_anything_is_made(tmp_path: Path) -> None:
    words = ["collect", "--config", "reach_ci", "--out", str(tmp_path / "new")]
    refused = CliRunner().invoke(world_model_commands.app, words).exception
    assert isinstance(refused, NotFoundError)
    assert str(refused).startswith("the recipe has no task 'reach-v3'; it has ")
    assert not (tmp_path / "new").exists()
