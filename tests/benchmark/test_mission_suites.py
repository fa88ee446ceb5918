"""The suites of missions that ship: their states, variants, judges and counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from openral_benchmark.harness.suite_run import (
    plan_missions,
)
from openral_benchmark.plan import simulator_task
from openral_core.errors import ManifestError
from openral_core.suite import load_suite, suite_with_task
from openral_reasoner.memory.outcomes import Outcomes
from openral_reward_monitor.camera_views import default_view
from openral_reward_monitor.models.calibration import load_calibration
from openral_rskill.registry import resolve
from openral_training.training_recipe import load_recipe

DESIGN = 4002
"""An initial state of the suite for development."""


def test_the_suite_judges_on_states_that_nothing_was_trained_on() -> None:
    suite = load_suite("harness")
    assert suite.missions is not None
    first = suite.scenes[0]
    states = set(range(first.seed, first.seed + first.n_episodes))
    trained = resolve("mini-metaworld-mt10").manifest.trained_init_ids["metaworld"]
    assert not states & set(trained.ids())
    development = load_suite("harness_development").scenes[0]
    assert not states & set(range(development.seed, development.seed + development.n_episodes))
    assert DESIGN in range(development.seed, development.seed + development.n_episodes)
    jobs = plan_missions(suite, suite.scenes, suite.missions.rows, suite.missions.variants, 1)
    assert {(job.scene.task.id, job.variant) for job in jobs if job.variant == "opened"} == {
        ("metaworld/pick-place-v3", "opened")  # nothing is lifted in push
    }
    assert suite_with_task("metaworld/pick-place-v3").missions is None


def test_the_suite_of_robosuite_has_the_variants_that_its_worlds_allow() -> None:
    suite = load_suite("harness_robosuite")
    assert suite.missions is not None
    states = {state for scene in suite.scenes for state in range(scene.seed, scene.seed + scene.n_episodes)}
    trained = resolve("mini-robosuite-panda").manifest.trained_init_ids["robosuite"]
    assert not states & {
        *trained.ids(),
        *range(1000, 1050),
        *range(1500, 1700),
        *range(2000, 2200),
        *range(4000, 4100),
        *range(7000, 7033),
    }  # judged on, calibrated on, developed on, and looked at
    jobs = plan_missions(suite, suite.scenes, suite.missions.rows, suite.missions.variants, 1)
    left_out = {(scene.task.id, variant) for scene in suite.scenes for variant in suite.missions.variants} - {
        (job.scene.task.id, job.variant) for job in jobs
    }
    assert left_out == {
        ("robosuite/Lift", "opened"),  # it is done before a grasp is opened
        ("robosuite/PickPlaceCan", "outside"),  # its can begins anywhere in the bin
        ("robosuite/PickPlaceCan", "both"),
    }


@pytest.mark.parametrize("name", ["harness_mt10", "harness_robosuite"])
def test_the_judge_of_a_suite_knows_its_camera_and_its_words(name: str) -> None:
    """Through a camera that it was not calibrated for it would abstain in every episode."""
    for scene in load_suite(name).scenes:
        assert scene.reward_skill
        judge = resolve(scene.reward_skill)
        calibration = load_calibration(judge)
        assert calibration is not None
        known = calibration.cameras[default_view(judge.manifest, scene)]
        task = simulator_task(scene)
        assert task in known.tasks
        assert scene.task.instruction in load_recipe(known.recipe).tasks[task].train


def test_the_counts_that_ship_begin_each_task_with_what_worked_more_often_on_other_states() -> None:
    table = load_suite("harness").missions
    assert table is not None
    assert table.counts is not None
    counts = Outcomes(Path(table.counts), keeps=False)
    skill = resolve("mini-metaworld-mt10").manifest.name
    tries = {(row.task, row.rung): row.tries for row in counts.rows()}
    for scene in load_suite("harness_development").scenes:
        task = scene.task.id.rsplit("/", 1)[-1]
        assert tries[task, "first"] == tries[task, "motions"]
    assert counts.expected(skill, "pick-place-v3", "motions", 0.6) > counts.expected(
        skill, "pick-place-v3", "first", 0.7
    )
    assert counts.expected(skill, "door-open-v3", "motions", 0.6) < counts.expected(
        skill, "door-open-v3", "first", 0.7
    )


def test_a_suite_whose_counts_are_not_there_is_refused_with_the_fix(tmp_path: Path) -> None:
    suite = tmp_path / "few.yaml"
    suite.write_text(
        "heldout_init_ids: {first: 4000, count: 2}\n"
        "missions: {attempt_steps: 160, rows: [bare], variants: [usual], counts: none.json}\n"
        "scenes: [metaworld_missions]\n"
    )
    with pytest.raises(ManifestError, match=r"missions.counts.*none.json.*leave counts out"):
        load_suite(suite)
