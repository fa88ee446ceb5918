"""`openral benchmark run` for a suite of missions, from the options of the command to the files of the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from openral_benchmark.harness.result import mission_result
from openral_benchmark.harness.suite_run import (
    MissionSetting,
    chosen,
    plan_missions,
    run_missions,
)
from openral_benchmark.harness.tables import mission_page, print_missions
from openral_benchmark.run_options import RunOptions
from openral_benchmark.workers.worker_pool import cores
from openral_core.cli.downloads import download_bars
from openral_core.cli.progress import WITH_RESUME, console, progress_bar
from openral_core.files.output_folder import check_folder
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_data.datasets.listing import refuse_dataset
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.compatibility import require, require_policy
from openral_rskill.hub.install import ready
from openral_rskill.result_provenance import write_result

_OF_EPISODES = (
    *("policies", "cluster", "num_envs", "answer_delay", "picture_delay", "patience", "videos"),
    *("policy_url", "contract"),
)
"""Fields of `RunOptions` that missions do not have."""


def evaluate_missions(
    suite: Suite,
    scenes: Sequence[BenchmarkScene],
    options: RunOptions,
    command: str,
    *,
    rows: Sequence[str] = (),
    variants: Sequence[str] = (),
    trace: bool = False,
) -> dict[str, Any]:
    """Run missions of a suite, print the table, write `result.json` and `report.html`; return the result.

    Args:
        suite: of missions.
        scenes: those of it that are to be run.
        options: which policy, and how; already checked.
        command: the command line, for the provenance.
        rows: names of the rows to run; empty: all of the suite.
        variants: names of the variants to run; empty: all of the suite.
        trace: whether the log of each mission is written, too.

    Raises:
        OpenralError: the folder cannot be written, or the skill is not there, does not fit, was trained on the suite's
            states, or cannot be loaded.
        BadParameter: an option does not apply to missions.
    """
    _refuse_others(suite, options)
    table = suite.missions
    assert table is not None, "its caller looked"
    with download_bars(console) as progress:
        package = ready(options.rskill, progress=progress)
    require_policy(package.manifest)
    folder = check_folder(options.out or Path("runs") / f"{suite.id}-{package.manifest.short_name}", "--out")
    refuse_dataset(folder, "--out")
    episodes = options.n_episodes or scenes[0].n_episodes
    require(
        [unseen_states(package.manifest, scene, range(scene.seed, scene.seed + episodes)) for scene in scenes]
    )
    setting = MissionSetting(
        package.folder.absolute(),
        table.attempt_steps,
        options.device,
        options.allow_unevaluated,
        Path(table.counts) if table.counts else None,
        folder / "missions" if trace else None,
    )
    jobs = plan_missions(
        suite,
        scenes,
        chosen(table.rows, rows, "row"),
        chosen(table.variants, variants, "variant"),
        episodes,
    )
    finished: list[dict[str, Any]] = []
    total = sum(len(job.rows) for job in jobs)
    workers = min(options.workers or cores(), len(jobs))
    with progress_bar("missions", total, goes_on=WITH_RESUME) as (bar, task):
        for some in run_missions(jobs, setting, folder, suite=suite, workers=workers, resume=options.resume):
            finished += some
            bar.update(
                task, completed=len(finished), note=f"{sum(row['success'] for row in finished)} solved"
            )
    content = mission_result(suite, package, scenes, setting, finished, command)
    write_result(folder / "result.json", content)
    (folder / "report.html").write_text(mission_page(content), encoding="utf-8")
    print_missions(content, console)
    for path in (folder / "result.json", folder / "report.html"):
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    return content


def _refuse_others(suite: Suite, options: RunOptions) -> None:
    """Raise BadParameter if an option is given that does not apply to missions."""
    usual = RunOptions()
    given = [
        f"--{name.replace('_', '-')}"
        for name in _OF_EPISODES
        if getattr(options, name) != getattr(usual, name)
    ]
    if given:
        raise typer.BadParameter(
            f"{suite.id} judges whole missions of an --rskill, on this machine, with nothing late and no "
            f"film; leave {', '.join(given)} out"
        )
