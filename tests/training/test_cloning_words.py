"""Demonstrations are cloned with the words of their own tasks, in whatever order a recipe names them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from openral_core.errors import DatasetError
from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import Dataset, DatasetWriter, open_dataset
from openral_training import reward
from openral_training.bc import cloning_data
from openral_training.frames import frame_cache
from openral_training.training_recipe import Recipe

CAMERA, SIDE, STEPS = "observation.images.camera1", 8, 4
OPEN, CLOSE, PUSH = "drawer-open-v3", "drawer-close-v3", "push-v3"
PLAIN = {OPEN: "open the drawer", CLOSE: "close the drawer", PUSH: "push the puck"}


def recipe(*tasks: str) -> Recipe:
    words = {task: {"train": [PLAIN[task]], "heldout": [f"please {PLAIN[task]}"]} for task in tasks}
    weighted = {task: {**each, "weight": 1.0 + len(task)} for task, each in words.items()}
    ids = {"train_init_ids": {"first": 0, "count": 2}, "heldout_init_ids": {"first": 9, "count": 1}}
    return Recipe.model_validate({**ids, "scene": "metaworld_mt10_fast", "tasks": weighted})


def collect(root: Path, words: dict[str, str], *episodes: str, behaviour: str = "expert") -> Dataset:
    """Write an episode of each named task, in a dataset collected for the tasks of `words`."""
    form = DatasetMetadata(10, {CAMERA: (SIDE, SIDE)}, "ee_pos3_gripper1", 4, 1, words, "sawyer")
    writer = DatasetWriter(root, form)
    for task in episodes:
        none = np.zeros((STEPS, len(words)), np.float32)
        writer.add(
            Episode(
                task,
                behaviour,
                0,
                0,
                {CAMERA: [encode_png(np.zeros((SIDE, SIDE, 3), np.uint8))] * STEPS},
                np.zeros((STEPS, 4), np.float32),
                np.zeros((STEPS, 1, 4), np.float32),
                np.ones(STEPS, np.int64),
                np.full((STEPS, len(words)), [task == each for each in words]),
                none,
                none,
                np.zeros((STEPS, 6), np.float32),
            )
        )
    writer.close()
    return open_dataset(root)


@pytest.fixture
def collected(tmp_path: Path) -> Dataset:
    """One episode of each of two tasks."""
    return collect(tmp_path / "dataset", {task: PLAIN[task] for task in (OPEN, CLOSE)}, OPEN, CLOSE)


def test_words_and_weights_are_those_of_the_tasks_of_the_dataset(collected: Dataset) -> None:
    for tasks in ((OPEN, CLOSE), (CLOSE, PUSH, OPEN)):
        data = cloning_data(collected, recipe(*tasks))
        rows = data.demonstrations.task
        assert [data.sentences[task] for task in rows] == [(PLAIN[OPEN],)] * STEPS + [(PLAIN[CLOSE],)] * STEPS
        assert [data.weights[task] for task in rows] == [1.0 + len(OPEN)] * STEPS + [1.0 + len(CLOSE)] * STEPS


def test_a_task_that_the_recipe_lacks_is_refused(collected: Dataset) -> None:
    with pytest.raises(DatasetError) as refused:
        cloning_data(collected, recipe(OPEN, PUSH))
    assert str(refused.value) == (
        f"{collected.root}: was collected for {CLOSE}, which the recipe lacks; name with --recipe the one that it was "
        "collected with"
    )


@pytest.mark.parametrize("tasks", [(CLOSE, OPEN), (OPEN, CLOSE, PUSH)])
def test_a_reward_model_is_trained_with_the_tasks_of_the_collection(
    collected: Dataset, tmp_path: Path, tasks: tuple[str, ...]
) -> None:
    """Its labels have a column for each task, in the order of the collection."""
    with pytest.raises(
        DatasetError, match=f"was collected for {OPEN}, {CLOSE}, the recipe has {', '.join(tasks)}"
    ):
        reward.train(collected, recipe(*tasks), tmp_path / "out")


def test_a_dataset_that_was_fetched_in_part_is_refused(collected: Dataset) -> None:
    path = collected.files()[0]
    pq.write_table(pq.read_table(path).slice(0, STEPS), path)
    with pytest.raises(
        DatasetError, match=r"data: 4 rows, but meta/info\.json says 8; fetch the whole dataset"
    ):
        cloning_data(collected, recipe(OPEN, CLOSE))


def test_a_dataset_without_an_expert_is_refused(tmp_path: Path) -> None:
    """As `openral world-model collect` makes it, and `openral train collect` where no expert succeeded."""
    tried = collect(tmp_path / "dataset", {OPEN: PLAIN[OPEN]}, OPEN, behaviour="policy")
    with pytest.raises(DatasetError, match="holds no episode of an expert"):
        cloning_data(tried, recipe(OPEN))
    with pytest.raises(DatasetError, match="holds no episode of an expert"):
        reward.train(tried, recipe(OPEN), tmp_path / "out")


@pytest.mark.parametrize("kept", [0, 60, 300])
def test_resized_frames_whose_file_is_damaged_are_made_again(collected: Dataset, kept: int) -> None:
    """As after a power cut."""
    frame_cache(collected, CAMERA, 8)
    [file] = (collected.root / ".cache").glob("*.npy")
    file.write_bytes(file.read_bytes()[:kept])
    assert frame_cache(collected, CAMERA, 8).shape == (len(collected), 8, 8, 3)
