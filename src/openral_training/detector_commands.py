"""`openral train detector` and `openral detector eval`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.files.output_folder import check_file
from openral_rskill.cli.completion import skills
from openral_training.recipe_option import DetectorRecipeOption
from openral_training.training_folder import TrainingFolder

app = typer.Typer(help="Judge skills that find things.", no_args_is_help=True)


@app.callback()
def detectors() -> None:
    """Judge detectors."""


def train_detector(
    out: Annotated[Path, typer.Option("--out", help="Folder of the checkpoint.")],
    recipe: DetectorRecipeOption = "mini_detector",
    pictures: Annotated[int, numbers.count("Pictures to draw and train on.")] = 2520,
    steps: Annotated[int, numbers.steps("Optimiser steps.")] = 1600,
    warm_start: Annotated[
        Path | None, typer.Option("--warm-start", help="Folder of a checkpoint to go on from.")
    ] = None,
    seed: Annotated[int, numbers.seed()] = 0,
    threads: Annotated[int, numbers.workers("Torch threads; not more than idle cores.")] = 1,
) -> None:
    """Draw pictures of simulated scenes and train a small detector on them. Goes on where it stopped.

    The pictures are kept in <out>/run/pictures.npz and drawn once.
    """
    from openral_core.cli.progress import BY_ITSELF, console, progress_bar
    from openral_core.errors import ContractError
    from openral_training.detector.recipe import load_detector_recipe

    folder = TrainingFolder(out, states="run/state.safetensors")
    folder.check()
    loaded = load_detector_recipe(recipe)

    from openral_training.detector.pictures import are_drawn, draw_all  # with torch, which takes seconds
    from openral_training.detector.train import DetectorTraining, train

    file = out / "run" / "pictures.npz"
    if not are_drawn(file, loaded, pictures, seed):
        if folder.begun:
            raise ContractError(
                f"{file}: holds pictures of another --recipe, --pictures or --seed, which the training there goes on "
                "with; give what it was begun with, or name another --out"
            )
        with progress_bar("drawing", pictures) as (bar, task):
            draw_all(loaded, pictures, file, seed, lambda count: bar.update(task, advance=count))
    with progress_bar("training", steps, goes_on=BY_ITSELF) as (bar, task):

        def progress(step: int, loss: float) -> None:
            bar.update(task, completed=step, note=f"loss {loss:.3f}")

        train(file, loaded, out, DetectorTraining(steps, seed, threads), warm_start, progress)
    console.print(f"{out}: config.json and model.safetensors written", markup=False, soft_wrap=True)


@app.command("eval")
def evaluate(
    rskill: Annotated[
        str,
        typer.Option(
            "--rskill", autocompletion=skills, help="Name, reference or folder of a detector skill."
        ),
    ],
    recipe: DetectorRecipeOption = "mini_detector",
    states: Annotated[int, numbers.count("Held-out initial states of each world.")] = 10,
    out: Annotated[
        Path | None, typer.Option("--out", help="Eval JSON; default: runs/detector-<skill>.json.")
    ] = None,
    update_manifest: Annotated[
        bool, typer.Option("--update-manifest", help="Write the JSON into the skill's eval/ folder, too.")
    ] = False,
    seed: Annotated[int, numbers.seed()] = 1,
) -> None:
    """Ask a detector for things in held-out states: error in centimetres by thing, found rate, false finds."""
    from rich.table import Table

    from openral_core.cli.progress import console, progress_bar
    from openral_core.cli.tables import cell_text
    from openral_core.errors import ContractError
    from openral_rskill.hub.install import ready
    from openral_rskill.measured_results import keep_result
    from openral_rskill.result_provenance import write_result
    from openral_training.detector.recipe import load_detector_recipe

    package, loaded = ready(rskill), load_detector_recipe(recipe)
    if states > loaded.heldout_init_ids.count:
        raise ContractError(f"{recipe} has {loaded.heldout_init_ids.count} held-out states, not {states}")
    file = check_file(out or Path("runs") / f"detector-{package.manifest.short_name}.json", "--out")
    recorded = package.folder / "eval" / f"{Path(recipe).stem}.json"
    if update_manifest:
        keep_result(recorded)

    # With torch and simulators, which take seconds.
    from openral_training.detector.evaluate import DetectorPlan
    from openral_training.detector.evaluate import evaluate as run

    plan = DetectorPlan(package, loaded, Path(recipe).stem, states, seed)
    with progress_bar("looking", plan.pictures) as (bar, task):
        command = shlex.join(["openral", *sys.argv[1:]])
        content = run(plan, command, lambda count: bar.update(task, advance=count))
    write_result(file, content)
    if update_manifest:
        write_result(recorded, content)
    for look, found in content["results"]["by_look"].items():
        table = Table(f"{look} look", "found", "median cm", "p90 cm", "false finds")
        for name, row in (*found["by_label"].items(), ("all", found)):
            errors = [f"{row[key]:.1f}" if key in row else "–" for key in ("median_cm", "p90_cm")]
            table.add_row(
                cell_text(name),
                f"{row['found']}/{row['n']}",
                *errors,
                f"{row['false_finds']}/{row['n_absent']}",
            )
        console.print(table)
    console.print(f"every row: {file}", markup=False, soft_wrap=True)
