"""Merging and splitting of datasets: rows, words, pictures and statistics of the chosen episodes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded_deployment import COLUMNS, RecordedDeployment, grey
from typer.testing import CliRunner

from openral_core.errors import DatasetError, NotFoundError, OutputError, UsageError
from openral_data.commands import app
from openral_data.datasets.check import dataset_faults
from openral_data.datasets.merge_and_split import EpisodeSelection, write_selection
from openral_data.lerobot_v3 import open_dataset


def record(root: Path, *words: str) -> Path:
    world = RecordedDeployment(root, "episodes")
    for number, sentence in enumerate(words):
        goal = f"{number:032x}"
        world.goal(goal)
        world.run(60, goal_id=goal, words=sentence)
        world.goal("")
    world.recorder.close()
    return root


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("selection")
    return record(root / "a", "push", "pull"), record(root / "b", "pull", "lift")


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_merged_and_split_again_each_row_keeps_its_words_and_its_picture(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    run("merge", *two, "--out", tmp_path / "all")
    run("split", tmp_path / "all", "--episodes", "1,3", "--out", tmp_path / "some")
    parts = [open_dataset(root / "dataset") for root in two]
    for name, chosen in (("all", [(0, 0), (0, 1), (1, 0), (1, 1)]), ("some", [(0, 1), (1, 1)])):
        assert list(dataset_faults(tmp_path / name)) == []
        made = open_dataset(tmp_path / name)
        assert made.episodes["tasks"] == [parts[part].episodes["tasks"][episode] for part, episode in chosen]
        sentences = made.sentences()
        found = made.columns(["task_index", "episode_index", "stamp_s", "observation.state"])
        for row, task in zip(found["episode_index"].ravel(), found["task_index"].ravel(), strict=True):
            assert sentences[int(task)] == made.episodes["tasks"][int(row)][0]
        steps = np.round(found["stamp_s"].ravel() * COLUMNS.control_hz).astype(int)
        for camera in made.cameras:
            levels = [float(image.mean()) for image in made.images(camera)]
            np.testing.assert_allclose(levels, [grey(step) for step in steps], atol=2)
        said = json.loads((tmp_path / name / "meta" / "stats.json").read_text())["observation.state"]
        np.testing.assert_allclose(said["mean"], found["observation.state"].mean(0), rtol=1e-4)


def test_a_folder_that_holds_something_is_left_alone(two: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds something already"):
        run("merge", *two, "--out", tmp_path)


def test_an_episode_is_not_merged_with_itself(two: tuple[Path, Path], tmp_path: Path) -> None:
    run("merge", *two, "--out", tmp_path / "all")
    for folders, first, number, of in (
        ((two[0], two[0]), two[0] / "dataset", 0, 0),
        ((two[0], f"{two[0]}/../a/dataset"), two[0] / "dataset", 0, 0),
        ((tmp_path / "all", two[1]), tmp_path / "all", 0, 2),
    ):
        with pytest.raises(DatasetError) as refused:
            run("merge", *folders, "--out", tmp_path / "twice")
        assert f"episode {number} is episode {of} of {first} as well, and would be there twice" in str(
            refused.value
        )
        assert not (tmp_path / "twice").exists()


def test_nothing_is_no_dataset(two: tuple[Path, Path], tmp_path: Path) -> None:
    none = EpisodeSelection.of(open_dataset(two[0] / "dataset"), ())
    for selections in ([], [none]):
        with pytest.raises(DatasetError, match="there is no episode to be written; record some first"):
            write_selection(tmp_path / "out", selections)
    assert not (tmp_path / "out").exists()
    some = EpisodeSelection.of(open_dataset(two[1] / "dataset"))
    assert write_selection(tmp_path / "out", [none, some]) == 2


def test_datasets_with_other_columns_are_not_merged(two: tuple[Path, Path], tmp_path: Path) -> None:
    other = record(tmp_path / "c", "push")
    info = other / "dataset" / "meta" / "info.json"
    content = json.loads(info.read_text())
    content["features"]["action"]["shape"] = [7]
    info.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=r"action is \('float32', \(7,\)\)"):
        run("merge", two[0], other, "--out", tmp_path / "out")


def test_datasets_whose_values_have_other_names_are_not_merged(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    other = record(tmp_path / "c", "push")
    info = other / "dataset" / "meta" / "info.json"
    content = json.loads(info.read_text())
    content["features"]["observation.joints"]["names"] = ["gripper", "j1"]
    info.write_text(json.dumps(content))
    with pytest.raises(
        DatasetError, match=r"values of observation.joints are gripper, j1, in .* j1, gripper"
    ):
        run("merge", two[0], other, "--out", tmp_path / "out")
    content["features"]["observation.joints"]["names"] = {"motors": ["j1", "gripper"]}
    info.write_text(json.dumps(content))
    run("merge", two[0], other, "--out", tmp_path / "out")


def test_datasets_of_different_robots_are_not_merged(two: tuple[Path, Path], tmp_path: Path) -> None:
    other = record(tmp_path / "c", "push")
    info = other / "dataset" / "meta" / "info.json"
    content = json.loads(info.read_text())
    ours, content["robot_type"] = content["robot_type"], "another"
    info.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=f"recorded with the robot another, .* with {ours}"):
        run("merge", two[0], other, "--out", tmp_path / "out")
    del content["robot_type"]  # LeRobot writes null where it was not told
    info.write_text(json.dumps(content))
    run("merge", two[0], other, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("episodes", "why"),
    [
        ("3-1", "'3-1' runs backwards; write 1-3"),
        ("0-99999999999", "no episode 2; it has 0 to 1"),
        ("9" * 5000, "is no number and no range; write 0,3-5"),
    ],
)
def test_a_range_that_cannot_be_is_refused_at_once(
    two: tuple[Path, Path], tmp_path: Path, episodes: str, why: str
) -> None:
    with pytest.raises((NotFoundError, UsageError), match=why):
        run("split", two[0], "--episodes", episodes, "--out", tmp_path / "some")
    assert not (tmp_path / "some").exists()


def test_the_list_of_commands_says_both_directions_of_convert() -> None:
    told = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    assert "Convert bags to a LeRobot v3 dataset, or a recording to bags or Rerun's files." in told
