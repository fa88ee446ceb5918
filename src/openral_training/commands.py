"""`openral train`: collect demonstrations, clone them, train the reward model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.cli.progress import BY_ITSELF, console, progress_bar
from openral_core.errors import UsageError
from openral_core.files.output_folder import check_folder
from openral_training.dagger.command import dagger
from openral_training.detector_commands import train_detector
from openral_training.devices import Device, DeviceOption
from openral_training.planner.commands import planner
from openral_training.recipe_option import RecipeOption
from openral_training.rl.command import rl
from openral_training.training_folder import TrainingFolder
from openral_training.world_model_commands import world_model

app = typer.Typer(help="Collect demonstrations and train small skills on them.", no_args_is_help=True)


DatasetOption = Annotated[
    Path, typer.Option("--dataset", help="Folder of the LeRobot v3 dataset, or of a recording.")
]
WorkersOption = Annotated[int, numbers.workers("Processes; one a core is best.", "--workers")]
SeedOption = Annotated[int, numbers.seed()]
RateOption = Annotated[
    float, numbers.real("Peak; a third of it to go on.", "--learning-rate", least=1e-6, most=1.0)
]
ThreadsOption = Annotated[int, numbers.workers("Torch threads; not more than idle cores.")]
StartOption = Annotated[
    Path | None, typer.Option("--warm-start", help="Folder of a checkpoint to go on from.")
]


@app.command()
def collect(
    out: Annotated[Path, typer.Option("--out", help="Folder of the dataset to make.")],
    recipe: RecipeOption = "mini_metaworld",
    only: Annotated[
        list[str] | None,
        typer.Option("--task", help="Only this task of the recipe; several times for several."),
    ] = None,
    starts: Annotated[int, numbers.count("Resets a task.")] = 30,
    failures: Annotated[int, numbers.count("Failing rollouts a task, for reward models.", least=0)] = 14,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", help="Skill that attempts the tasks, too: name or folder; several times for several."
        ),
    ] = None,
    attempts: Annotated[
        int, numbers.count("Attempts of --policy a task; experts correct those that fail.", least=0)
    ] = 20,
    filmed: Annotated[
        int,
        numbers.count("Attempts of --policy a task that are kept as they are, for reward models.", least=0),
    ] = 0,
    other_views: Annotated[
        float,
        numbers.real(
            "Share seen in other lights or with cameras 3 cm off.", "--other-views", least=0, most=1
        ),
    ] = 0.0,
    seed: SeedOption = 0,
    workers: WorkersOption = 2,
) -> None:
    """Let scripted experts act, disturbed on purpose, and write a LeRobot v3 dataset. Goes on where it stopped."""
    from openral_training.training_recipe import collection_settings, load_recipe, metadata_of

    check_folder(out, "--out")
    plan_for = load_recipe(recipe)

    from openral_data.lerobot_v3 import DatasetWriter, begin_collection
    from openral_rskill.hub.install import ready
    from openral_training import collect as collecting  # with simulators, which take seconds
    from openral_training.acting_skill import require_fit

    skills = [ready(name).folder for name in policy or ()]
    for skill in skills:
        require_fit(skill, plan_for)
    units = collecting.plan(plan_for, starts, failures, skills, attempts, filmed, only or ())
    units = collecting.in_other_views(units, other_views)
    metadata = metadata_of(plan_for)
    folder = begin_collection(out, collection_settings(plan_for)) / f"seed{seed}"
    frames = 0
    with progress_bar("collecting", len(units), goes_on=BY_ITSELF) as (bar, task):

        def advance(unit: collecting.CollectionUnit, count: int) -> None:
            nonlocal frames
            frames += count
            bar.update(task, advance=1, note=f"{frames} frames, last {unit.task_id}")

        shards = list(
            collecting.collect(plan_for, folder, units, seed=seed, workers=workers, progress=advance)
        )
    writer = DatasetWriter(out, metadata)
    for episode in collecting.read(shards):
        writer.add(episode)
    writer.close()
    told = f"{out}: {writer.episodes} episodes of {len(shards)} units; a LeRobot v3 dataset is ready"
    console.print(told, markup=False, soft_wrap=True)


@app.command()
def bc(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option("--out", help="Folder of the checkpoint.")],
    recipe: RecipeOption = "mini_metaworld",
    steps: Annotated[int, numbers.steps("Optimiser steps.")] = 4000,
    learning_rate: RateOption = 6e-4,
    warm_start: StartOption = None,
    keep: Annotated[
        float, numbers.real("Share of the weights of --warm-start in the result.", least=0, most=1)
    ] = 0.0,
    seed: SeedOption = 0,
    threads: ThreadsOption = 1,
    device: DeviceOption = Device.auto,
) -> None:
    """Clone the demonstrations of a dataset into a `mini` policy. Goes on where it stopped.

    With a recipe that has a `manifest`, any LeRobot v3 dataset will do, and a whole skill is written. Under `torchrun
    --no-python` each process goes through its share of every batch.
    """
    from openral_data.datasets.listing import dataset_folder
    from openral_data.lerobot_v3 import open_dataset
    from openral_training.mapping.dataset_recipe import SkillRecipe, load_cloning_recipe

    if keep and warm_start is None:
        raise UsageError("--keep: there is nothing to keep a share of; name a checkpoint with --warm-start")
    folder = TrainingFolder(out)
    folder.check()
    data, plan = open_dataset(dataset_folder(dataset)), load_cloning_recipe(recipe)

    from openral_training import bc as cloning  # with torch, which takes seconds
    from openral_training.data_parallel import leads

    console.quiet = not leads()
    config = cloning.BcConfig(steps=steps, learning_rate=learning_rate, keep=keep, seed=seed, threads=threads)
    decoded: dict[str, int] = {}
    with progress_bar("cloning", steps, goes_on=folder.goes_on) as (bar, task):

        def preparing(camera: str, frames: int) -> None:
            decoded[camera] = decoded.get(camera, 0) + frames
            bar.update(task, note=f"{camera}: {decoded[camera]} of {len(data)} frames decoded")

        def progress(step: int, error: float) -> None:
            bar.update(task, completed=step, note=f"L1 {error:.3f}")

        cloning.train(
            data,
            plan,
            out,
            config,
            device=device.value,
            warm_start=warm_start,
            preparing=preparing,
            progress=progress,
        )
    skill = ", rskill.yaml" if isinstance(plan, SkillRecipe) else ""
    console.print(f"{out}: config.json, model.safetensors{skill} written", markup=False, soft_wrap=True)


@app.command()
def reward(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option("--out", help="Folder of the checkpoint.")],
    recipe: RecipeOption = "mini_metaworld",
    steps: Annotated[int, numbers.steps("Optimiser steps.")] = 2500,
    learning_rate: RateOption = 6e-4,
    warm_start: StartOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = 1,
    device: DeviceOption = Device.auto,
) -> None:
    """Train a `mini` progress and success model on a dataset with failures. Goes on where it stopped.

    Under `torchrun --no-python` each process goes through its share of every batch.
    """
    from openral_data.datasets.listing import dataset_folder
    from openral_data.lerobot_v3 import open_dataset
    from openral_training.training_recipe import load_recipe

    folder = TrainingFolder(out)
    folder.check()
    data, plan = open_dataset(dataset_folder(dataset)), load_recipe(recipe)

    from openral_training import bc as cloning  # with torch, which takes seconds
    from openral_training import reward as rewarding
    from openral_training.data_parallel import leads

    console.quiet = not leads()
    config = cloning.BcConfig(steps=steps, learning_rate=learning_rate, seed=seed, threads=threads)
    with progress_bar("training", steps, goes_on=folder.goes_on) as (bar, task):

        def progress(step: int, loss: float) -> None:
            bar.update(task, completed=step, note=f"loss {loss:.3f}")

        rewarding.train(
            data, plan, out, config, device=device.value, warm_start=warm_start, progress=progress
        )
    console.print(f"{out}: config.json and model.safetensors written", markup=False, soft_wrap=True)


app.command("detector")(train_detector)
app.command()(planner)
app.command()(rl)
app.command()(dagger)
app.command("world-model")(world_model)
