"""What does not fit is said before training, in one line that names the place and the fix."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from plain_dataset import DATA, EPISODES, FRONT, RECIPE, change_column, change_json, write_dataset

from openral_core.errors import DatasetError, ManifestError, NotFoundError, OpenralError
from openral_data.lerobot_v3 import open_dataset
from openral_sim_bridge.rendering.mp4 import write_mp4
from openral_training.mapping.dataset_recipe import SkillRecipe, load_cloning_recipe
from openral_training.mapping.mapped_data import require_fit
from openral_training.training_recipe import load_recipe

Edit = Callable[[Path], Any]
VIDEO = f"videos/{FRONT}/chunk-000/file-000.mp4"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("plain") / "dataset")


def misfits(root: Path, recipe: str) -> list[str]:
    """Return the lines of the refusal; none where all fits."""
    path = root.parent / "cubes.yaml"
    path.write_text(recipe)
    try:
        loaded = load_cloning_recipe(path)
        assert isinstance(loaded, SkillRecipe)
        require_fit(open_dataset(root), loaded)
    except OpenralError as error:
        return str(error).splitlines()
    return []


def info(edit: Callable[[dict[str, Any]], Any]) -> Edit:
    return lambda root: change_json(root / "meta" / "info.json", edit)


def feature(name: str, **changes: Any) -> Edit:
    return info(lambda content: content["features"][name].update(changes))


def column(name: str, edit: Callable[[Any], Any], file: str = DATA) -> Edit:
    return lambda root: change_column(root / file, name, edit)


def nan_at(row: int) -> Callable[[Any], Any]:
    return lambda rows: [[float("nan")] * len(v) if i == row else v for i, v in enumerate(rows)]


def grey(size: tuple[int, int], fps: int, frames: int = 94) -> Edit:
    image = np.zeros((*size, 3), np.uint8)
    return lambda root: write_mp4(root / VIDEO, [image] * frames, fps=fps)


def test_what_fits_is_not_refused(whole: Path) -> None:
    assert misfits(whole, RECIPE) == []


@pytest.mark.parametrize(
    ("edit", "place", "what", "fix"),
    [
        (
            info(lambda c: c.update(codebase_version="v2.1")),
            "info.json",
            "codebase_version v2.1",
            "convert it",
        ),
        (info(lambda c: c.pop("fps")), "info.json", "fps is missing", "fetch"),
        (
            info(lambda c: c["features"]["action"].pop("shape")),
            "info.json",
            "features.action has no",
            "fetch",
        ),
        (info(lambda c: c["features"].pop(FRONT)), "cubes.yaml:2", f"no feature {FRONT}", "images.wrist"),
        (info(lambda c: c["features"].pop("action")), "action", "no feature action", "observation.fingers"),
        (
            feature(FRONT, shape=[96, 64, 3]),
            "cubes.yaml:2",
            "is 64x96 px, the manifest asks for 96x96",
            "lower",
        ),
        (feature(FRONT, shape=[200, 200, 3]), "file-000.mp4", "are 128x96 px", "correct the feature's shape"),
        (feature(FRONT, shape=[96]), "cubes.yaml:2", "has shape [96]", "correct it there"),
        (feature(FRONT, info={"video.is_depth_map": True}), "cubes.yaml:2", "depth map", "colours"),
        (feature("observation.state", dtype="string"), "cubes.yaml:5", "no numbers", "observation.fingers"),
        (feature("observation.state", shape=[3, 2]), "cubes.yaml:5", "has shape [3, 2]", "one row"),
        (feature("action", shape=[5]), "action", "5 numbers (5 of action), but", "choose columns"),
        (
            info(lambda c: c.update(fps=30)),
            "control_hz",
            "20, but the dataset was recorded at 30",
            "control_hz: 30",
        ),
        (column("timestamp", lambda t: [2 * x for x in t]), "info.json", "stands at 0.100 s", "correct fps"),
        (grey((96, 128), 10), "file-000.mp4", "runs at 10 frames a second", "encode the video again"),
        (grey((96, 128), 20, 40), "file-000.mp4", "ends at 2.00 s, but episode 1", "fetch"),
        (lambda root: (root / VIDEO).unlink(), "file-000.mp4", "is not there", "videos/ included"),
        (
            info(lambda content: content.update(video_path="videos/{episode_chunk}.mp4")),
            "info.json: video_path",
            "cannot be filled in",
            "write v3's own",
        ),
        (
            info(lambda content: content.update(video_path="../{video_key}.mp4")),
            "info.json: video_path",
            "leads out of the dataset",
            "fetch the dataset again",
        ),
        (
            lambda root: (root / VIDEO).write_bytes(b"video"),
            "file-000.mp4",
            "no video that can be read",
            "again",
        ),
        (
            lambda root: (root / "meta/tasks.parquet").unlink(),
            "tasks.parquet",
            "is missing",
            "task_index and task",
        ),
        (
            column("__index_level_0__", lambda t: [t[0], ""], "meta/tasks.parquet"),
            "tasks.parquet",
            "task_index 1 has no sentence",
            "write what was asked for",
        ),
        (lambda root: shutil.rmtree(root / "meta/episodes"), "episodes", "no parquet file", "whole dataset"),
        (lambda root: shutil.rmtree(root / "data"), "data", "no parquet file", "whole dataset"),
        (info(lambda c: c.update(total_frames=95)), "data", "94 rows, but meta/info.json says 95", "fetch"),
        (column("index", lambda rows: rows[::-1]), "data", "not in the order", "fetch"),
        (
            column("dataset_to_index", lambda r: [29, *r[1:]], EPISODES),
            "episodes",
            "but it has 29 rows",
            "fetch",
        ),
        (
            lambda root: [
                column(name, lambda r: [29, *r[1:]], EPISODES)(root)
                for name in ("dataset_to_index", "length")
            ],
            "episodes",
            "do not cover",
            "fetch",
        ),
        (column("action", nan_at(31)), "data", "episode 1, frame 1", "leave_out: [1]"),
        (column("observation.state", nan_at(0)), "data", "observation.state is not finite", "leave_out: [0]"),
    ],
)
def test_a_dataset_that_does_not_fit(
    whole: Path, tmp_path: Path, edit: Edit, place: str, what: str, fix: str
) -> None:
    root = tmp_path / "dataset"
    shutil.copytree(whole, root)
    edit(root)
    lines = misfits(root, RECIPE)
    assert [line for line in lines if place in line and what in line and fix in line], lines
    assert all(";" in line for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "camera2: obs",
            "camera9: obs",
            "'observation.images.camera9' is no camera of the manifest; name one of",
        ),
        (
            "  observation.images.camera2: observation.images.wrist\n",
            "",
            "cubes.yaml:1: cameras: say nothing of the manifest's observation.images.camera2; name its feature",
        ),
        ("observation.images.wrist", "observation.state", "observation.state is no camera; name one of"),
        ("columns: [0]", "columns: [2]", "has 2 numbers, and no column 2; count from 0 to 1"),
        ("columns: [0]", "columns: [0, 1]", "5 numbers (3 of observation.state + 2 of observation.fingers)"),
        ("chunk_size: 16", "chunk_size: 25", "25, but episode 1 is shorter (the shortest has 24 actions)"),
        ("words:", "leave_out: [7]\nwords:", "leave_out: there is no episode 7; the dataset has 0 to 2"),
        ("words:", "leave_out: [0, 1, 2]\nwords:", "leaves nothing to learn from"),
        (
            "words:",
            "only_where: by_hand\nwords:",
            "only_where: the dataset has no by_hand; name a feature of truth",
        ),
        (
            "words:",
            "never_where: action\nwords:",
            "never_where: action holds float32; name a feature of truth",
        ),
        (
            "words:",
            "only_outcome: success\nwords:",
            "ended in success; they say nothing of it; remove the line",
        ),
        ("words:", "seam_frames: 3\nwords:", "seam_frames: means nothing without only_where; add only_where"),
        ("words:", "action_steps: 2\nwords:", "but manifest.action_contract has 4 and action_steps is 2"),
        ("push the cube:", "throw the cube:", "words.throw the cube: is no sentence of the dataset's tasks"),
        ("  license: apache-2.0\n", "", "states no license of the weights; add license"),
        (
            ", representation: delta_ee_3d_plus_gripper",
            "",
            "add action_contract: {dim: …, representation: …}",
        ),
        (
            "manifest:",
            "manifest:\n  runtime: onnx",
            "manifest.runtime: onnx, and training writes pytorch; remove",
        ),
        ("embodiment_tags: [sawyer]", "embodiment_tags: [sawer]", "did you mean 'sawyer'?"),
        (", vla_feature_key: observation.images.camera2", "", "without a vla_feature_key; add one"),
        ("state:", "stat:", "did you mean 'state'?"),
    ],
)
def test_a_recipe_that_does_not_fit(whole: Path, old: str, new: str, line: str) -> None:
    assert old in RECIPE
    lines = misfits(whole, RECIPE.replace(old, new))
    assert any(line in found for found in lines), lines
    assert all("cubes.yaml:" in found for found in lines)


def test_several_misfits_are_several_lines(whole: Path, tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    shutil.copytree(whole, root)
    column("action", nan_at(31))(root)
    (root / VIDEO).unlink()
    assert len(misfits(root, RECIPE.replace("chunk_size: 16", "chunk_size: 30"))) == 3
    assert len(misfits(root, RECIPE.replace("words:", "leave_out: [1]\nwords:"))) == 1


def test_other_commands_say_that_they_need_labels(whole: Path, tmp_path: Path) -> None:
    dataset = open_dataset(whole)
    with pytest.raises(
        DatasetError, match=r"has no label\.success; only datasets of `openral train collect`"
    ):
        _ = dataset.tasks
    with pytest.raises(DatasetError, match=r"has no label\.success"):
        dataset.columns(["label.success"])
    (tmp_path / "cubes.yaml").write_text(RECIPE)
    with pytest.raises(ManifestError, match="which `openral train bc` alone reads"):
        load_recipe(tmp_path / "cubes.yaml")
    with pytest.raises(NotFoundError, match="there is no recipe"):
        load_cloning_recipe(tmp_path / "nothing.yaml")


def test_a_dataset_of_no_frames_is_refused(whole: Path, tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    shutil.copytree(whole, root)
    nothing = {"total_frames": 0, "total_episodes": 0}
    info(lambda content: content.update(nothing))(root)
    feature(FRONT, dtype="image")(root)
    for file in (DATA, EPISODES):
        table = pq.read_table(root / file).slice(0, 0)
        picture = pa.array([], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
        pq.write_table(table.append_column(FRONT, picture) if file == DATA else table, root / file)
    assert "do not cover the 0 rows one after another" in misfits(root, RECIPE)[0]
