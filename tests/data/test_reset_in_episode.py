"""A world that begins anew in mid-episode begins another episode, so that none has a jump."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_deployment import COLUMNS, EVERY, HZ, RecordedDeployment, grey

from openral_data.datasets.check import dataset_faults
from openral_data.lerobot_v3 import Dataset, open_dataset

GOAL = "a" * 32


def of_one_world(root: Path) -> tuple[Dataset, list[list[int]]]:
    """Return the dataset of a recording, and the control steps of each episode's frames."""
    assert list(dataset_faults(root / "dataset")) == []
    dataset = open_dataset(root / "dataset")
    columns = dataset.columns(["stamp_s", "observation.state", "episode_index"])
    steps = np.round(columns["stamp_s"].ravel() * HZ).astype(int)
    assert columns["observation.state"][:, 0].tolist() == steps.tolist()
    levels = [float(image.mean()) for image in dataset.images(COLUMNS.cameras[0].key)]
    np.testing.assert_allclose(levels, [grey(step) for step in steps], atol=2)
    episodes = [steps[columns["episode_index"] == number] for number in range(len(dataset.episodes["tasks"]))]
    return dataset, [episode.tolist() for episode in episodes]


@pytest.mark.parametrize("by_order", [False, True])
def test_a_reset_ends_the_episode_and_begins_another_of_the_same_goal(tmp_path: Path, by_order: bool) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    if by_order:
        assert world.recorder.start()[0]
    world.goal(GOAL)
    world.run(60, goal_id=GOAL)
    world.reset()
    world.run(60, goal_id=GOAL)
    world.goal("")
    if by_order:
        world.recorder.stop()
    world.recorder.close()
    dataset, (first, second) = of_one_world(tmp_path)
    assert first == list(range(EVERY, 60, EVERY))
    assert second == list(range(64, 120, EVERY))
    assert dataset.episodes["tasks"] == [["push the cube"]] * 2
    assert dataset.episodes["goal_id"] == [GOAL] * 2
    assert dataset.episodes["truncated"] == [True, False]


def test_a_clock_that_jumps_back_or_far_ahead_begins_another_episode(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "episodes")
    world.step = 4000
    world.goal(GOAL)
    for step in (0, 4000):
        world.run(40, goal_id=GOAL)
        world.step = step
    world.run(40, goal_id=GOAL)
    world.recorder.close()
    _, episodes = of_one_world(tmp_path)
    assert [episode[0] // 1000 for episode in episodes] == [4, 0, 4]
    assert all((np.diff(episode) == EVERY).all() for episode in episodes)


def test_a_highlight_has_an_episode_of_each_world(tmp_path: Path) -> None:
    world = RecordedDeployment(tmp_path, "highlight")
    world.run(80)
    world.age(5.0)
    world.run(40)
    world.reset()
    world.recorder.tick()
    world.run(80)
    assert world.recorder.highlight()[0]
    world.recorder.close()
    dataset, (first, second) = of_one_world(tmp_path)
    assert first[0] < 80 < first[-1] < 120 < second[0]
    assert dataset.episodes["truncated"] == [False, False]
