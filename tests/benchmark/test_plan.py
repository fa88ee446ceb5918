"""Blocks of episodes: whole, the same for any number of workers, and enough of them for many."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_benchmark.plan import Settings, identity, plan
from openral_core.suite import load_suite
from openral_rskill.registry import resolve
from openral_sidecar.environment.build import lock_file
from openral_sim_bridge.backends.robosuite.spec import SPEC

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


@pytest.mark.parametrize("here", [True, False])
def test_the_versions_in_a_simulators_own_environment_decide_rows_on_the_machine_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path))
    skill, scenes = resolve("mini-robosuite-panda"), load_suite("robosuite_panda_fast").scenes
    settings = Settings(n_episodes=1)
    lock_file(SPEC).parent.mkdir(parents=True)
    lock_file(SPEC).write_text("scipy==1.12.0\n")
    one = identity(skill, scenes, settings, here=here)
    lock_file(SPEC).write_text("scipy==1.13.0\n")
    other = identity(skill, scenes, settings, here=here)
    assert (one != other) is here
    assert {name for name in one if one[name] != other[name]} == ({"robosuite"} if here else set())
    assert "robosuite" not in identity(skill, SUITE.scenes, settings, here=here)
