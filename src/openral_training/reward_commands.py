"""`openral reward`: judge and calibrate reward models."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.cli import numbers
from openral_core.errors import OutputError
from openral_core.files.output_folder import check_file
from openral_rskill.cli.completion import skills
from openral_training.appearance_shift import View
from openral_training.devices import Device, DeviceOption
from openral_training.recipe_option import RecipeOption

if TYPE_CHECKING:
    from openral_training.reward_eval.run import EvaluationPlan

app = typer.Typer(help="Judge reward models, and calibrate them.", no_args_is_help=True)

SkillOption = Annotated[
    str, typer.Option("--rskill", autocompletion=skills, help="Name, reference or folder of a reward skill.")
]
CameraOption = Annotated[
    str,
    typer.Option(
        "--camera", help="a+b: together. Default: those that the skill asks for, or the scene's first."
    ),
]
PolicyOption = Annotated[
    list[str] | None,
    typer.Option("--policy", help="Skill whose attempts are filmed, too: name, reference or folder."),
]
WorkersOption = Annotated[int, numbers.workers("Processes that roll out.")]


@app.command("eval")
def evaluate(
    rskill: SkillOption,
    recipe: RecipeOption = "mini_progress",
    episodes: Annotated[int, numbers.count("Held-out initial states a task.")] = 10,
    camera: CameraOption = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Eval JSON, its page beside it; default: runs/reward-<skill>[.<view>].json."
        ),
    ] = None,
    update_manifest: Annotated[
        bool, typer.Option("--update-manifest", help="Write the JSON into the skill's eval/ folder, too.")
    ] = False,
    policy: PolicyOption = None,
    view: Annotated[View, typer.Option(help="How the worlds are seen.")] = View.plain,
    workers: WorkersOption = 1,
    device: DeviceOption = Device.cpu,
) -> None:
    """Judge a reward model on held-out states and words, by kind of failure: motions that miss first."""
    from rich.table import Table

    from openral_core.cli.progress import console, progress_bar
    from openral_rskill.measured_results import keep_result
    from openral_rskill.result_provenance import write_result

    plan = _plan(rskill, recipe, camera, episodes, policy or (), device.value, workers, calibrating=False)
    plan = replace(plan, view=view)
    seen = "" if view is View.plain else f".{view.value}"
    file = check_file(out or Path("runs") / f"reward-{plan.package.manifest.short_name}{seen}.json", "--out")
    plots = check_file(_page_beside(file), "the page of --out")
    recorded = plan.package.folder / "eval" / f"{plan.recipe_name}{seen}.json"
    if update_manifest:
        keep_result(recorded)
    if file.absolute().parent.name == "eval":
        keep_result(file)

    from openral_training.reward_eval.page import headline, page
    from openral_training.reward_eval.run import evaluate as run

    with progress_bar("rollouts", plan.films) as (bar, task):
        content = run(plan, shlex.join(["openral", *sys.argv[1:]]), lambda count: bar.advance(task, count))
    write_result(file, content)
    plots.write_text(page(content), encoding="utf-8")
    if update_manifest:
        write_result(recorded, content)
    table = Table("measure", "value")
    for row in headline(content["results"]):
        table.add_row(*row)
    console.print(table)
    console.print(f"every row: {file}; plots: {plots}", markup=False, soft_wrap=True)


@app.command()
def calibrate(
    rskill: SkillOption,
    recipe: RecipeOption = "mini_progress",
    episodes: Annotated[int, numbers.count("Calibration states a task.")] = 10,
    camera: CameraOption = "",
    error_rate: Annotated[
        float,
        numbers.real("Share of wrong yeses, and of wrong noes, that is allowed.", least=0.001, most=0.5),
    ] = 0.02,
    policy: PolicyOption = None,
    workers: WorkersOption = 1,
    device: DeviceOption = Device.cpu,
) -> None:
    """Learn from labelled rollouts what scores mean on a camera; write calibration.json beside the manifest."""
    from rich.table import Table

    from openral_core.cli.progress import console, progress_bar
    from openral_reward_monitor.models.calibration import FILE_NAME

    plan = _plan(rskill, recipe, camera, episodes, policy or (), device.value, workers, calibrating=True)
    check_file(plan.package.folder / FILE_NAME, "the skill's")

    from openral_training.reward_eval.page import headline
    from openral_training.reward_eval.run import calibrate as run

    with progress_bar("rollouts", plan.films) as (bar, task):
        found, results = run(plan, error_rate, lambda count: bar.advance(task, count))
    table = Table("measure, on the rollouts of the fit", "value")
    for row in headline(results):
        table.add_row(*row)
    console.print(table)
    bounds = f"no below {found.no_below:.2f}, yes from {found.yes_from:.2f} on"
    console.print(
        f"{plan.package.folder / FILE_NAME}: camera {plan.camera}, {found.rollouts_done} rollouts that succeeded, "
        f"{found.rollouts_not_done} that never did; {bounds}",
        markup=False,
        soft_wrap=True,
    )


def _page_beside(file: Path) -> Path:
    """Return the page of an eval JSON: of its name, with .html in place of .json or behind another ending.

    Raises:
        OutputError: the name is that of a page.
    """
    if file.suffix == ".html":
        raise OutputError(
            f"--out {file}: is the name of the page; name the eval JSON, such as {file.stem}.json"
        )
    return file.with_suffix(".html") if file.suffix == ".json" else file.with_name(f"{file.name}.html")


def _plan(
    rskill: str,
    recipe: str,
    camera: str,
    episodes: int,
    policies: Sequence[str],
    device: str,
    workers: int,
    *,
    calibrating: bool,
) -> EvaluationPlan:
    from openral_core.cli.downloads import download_bars
    from openral_core.cli.progress import console
    from openral_core.errors import ContractError, NotFoundError
    from openral_reward_monitor.camera_views import default_view, require_view
    from openral_rskill.hub.install import ready
    from openral_training.training_recipe import load_recipe

    loaded = load_recipe(recipe)
    with download_bars(console) as progress:
        package = ready(rskill, progress=progress)
    states = loaded.calibration_init_ids if calibrating else loaded.heldout_init_ids
    if states is None:
        raise ContractError(f"{recipe}: calibration_init_ids: is missing; name states that nothing else uses")
    if episodes > states.count:
        raise ContractError(f"{recipe} has {states.count} such states a task, not {episodes}")
    scene = loaded.scene_for(loaded.task_ids[0])
    named = camera or default_view(package.manifest, scene)
    try:
        require_view(named, package.manifest, scene)
    except (ContractError, NotFoundError) as error:
        raise type(error)(f"--camera {named}: {error}") from error

    from openral_training.acting_skill import (
        require_fit,
        with_all_cameras,
    )  # torch takes seconds, as do the simulators
    from openral_training.devices import torch_device
    from openral_training.reward_eval.run import EvaluationPlan

    skills = tuple(ready(name).folder for name in policies)
    for folder in skills:
        require_fit(folder, with_all_cameras(loaded))
    return EvaluationPlan(
        package,
        loaded,
        Path(recipe).stem,
        named,
        tuple(states.ids()[:episodes]),
        heard=calibrating,
        device=torch_device(device),
        workers=workers,
        skills=skills,
    )
