"""Blocks of episodes: whole, the same for any number of workers, and enough of them for many."""

from __future__ import annotations

import pytest

from openral_benchmark.plan import Settings, plan
from openral_core.suite import load_suite

SUITE = load_suite("metaworld_mt10_fast")


@pytest.mark.parametrize(
    ("tasks", "episodes", "blocks"),
    [
        (1, 32, 8),  # half of eight worlds are filled, and eight workers have something to do
        (1, 64, 8),
        (1, 16, 4),
        (1, 200, 16),
        (1, 7, 1),
        (5, 50, 20),
        (2, 32, 8),
        (4, 10, 8),
        (10, 10, 10),  # ten tasks keep ten workers busy; shorter blocks would only empty the batches
        (10, 50, 20),
        (10, 1000, 320),
    ],
)
def test_a_task_is_cut_so_that_many_workers_have_something_to_do(
    tasks: int, episodes: int, blocks: int
) -> None:
    scenes = SUITE.scenes[:tasks]
    found = plan(scenes, Settings(n_episodes=episodes))
    assert len(found) == blocks
    assert [block.number for block in found] == list(range(blocks))
    for scene in scenes:
        states = [job.init_id for block in found if block.scene is scene for job in block.jobs]
        assert states == list(range(scene.seed, scene.seed + episodes))
    lengths = [len(block.jobs) for block in found]
    assert max(lengths) <= 32
    assert max(lengths) - min(lengths) <= 1
