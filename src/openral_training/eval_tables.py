"""Judge a skill and show the result: the tables of `openral train eval`."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.table import Table

from openral_core.registry import RSkillPackage
from openral_sim_bridge.rollout import EpisodeRow
from openral_training import evaluate
from openral_training.progress import console, progress_bar
from openral_training.provenance import provenance, write_result
from openral_training.recipe import Recipe


def judge_policy(package: RSkillPackage, recipe: Recipe, episodes: int, out: Path, workers: int) -> None:
    """Judge a policy, write the eval JSON and print a row a task and kind of words."""
    trials = evaluate.plan(recipe, episodes)
    solved = 0
    with progress_bar("episodes", sum(len(trial.jobs) for trial in trials)) as (bar, task):

        def advance(row: EpisodeRow) -> None:
            nonlocal solved
            solved += row.success
            bar.update(task, advance=1, note=f"{solved} solved, last {row.task}")

        results = evaluate.evaluate(package, recipe, trials, workers=workers, progress=advance)
    content = evaluate.report(results)
    write_result(out, {**_source(package, recipe, episodes), "results": content})
    table = Table("task", "words", "solved", "rate", "95 % interval", "median steps")
    for trial, rows in results:
        rate = content[f"{trial.words}_words"]["tasks"][trial.task_id]
        steps = sorted(row.steps for row in rows if row.success)
        table.add_row(
            trial.task_id, trial.words, f"{rate['successes']}/{rate['n_episodes']}", f"{rate['success_rate']:.2f}",
            "{:.2f} to {:.2f}".format(*rate["wilson_95"]), str(steps[len(steps) // 2]) if steps else "–",
        )  # fmt: skip
    console.print(table)
    console.print(f"rows, seeds and intervals: {out}")


def _source(package: RSkillPackage, recipe: Recipe, episodes: int) -> dict[str, object]:
    """What every eval JSON says before its results."""
    ids, scene = recipe.heldout_init_ids, recipe.scene_for(recipe.task_ids[0])
    look, camera = scene.scene.backend_options.get("render_profile", "fast"), scene.cameras[0]
    return {
        "schema_version": "0.1",
        "source": {"evaluated_by": "openral", "reproduced_locally": True, "status": "reproduced"},
        "benchmark": {
            "name": "mini_metaworld",
            "simulator": "MetaWorld v3 on MuJoCo",
            "robot": "sawyer",
            "protocol": "held-out initial states and words; success is MetaWorld's own, at any step within the horizon",
            "deviations": f"render profile `{look}` (`published` is the benchmark's own), camera {camera.name} at "
            f"{camera.width} px as lerobot frames it, several tasks share a world",
        },
        "eval_config": {
            "init_ids": [ids.first, ids.ids()[:episodes][-1]],
            "trained_on_init_ids": [
                recipe.train_init_ids.first,
                recipe.train_init_ids.first + recipe.train_init_ids.count - 1,
            ],
            "max_steps": recipe.horizon,
            "success_key": "success",
        },
        "provenance": provenance(package, " ".join(["openral", *sys.argv[1:]])),
    }
