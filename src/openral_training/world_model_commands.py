"""`openral world-model`: record rollouts, evaluate and convert world models; `openral train world-model` trains one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from openral_core.cli import numbers
from openral_core.cli.progress import BY_ITSELF, console, progress_bar
from openral_core.files.output_folder import check_folder
from openral_training.recipe_option import recipes
from openral_training.rl.command import rl_configs
from openral_training.training_folder import TrainingFolder

app = typer.Typer(help="Record rollouts for world models, judge and convert them.", no_args_is_help=True)

FolderArgument = Annotated[Path, typer.Argument(help="Folder of the world model.")]
HORIZON_COLUMNS = {
    "step": "step",
    "episodes": "of",
    "psnr_db": "PSNR",
    "psnr_still_db": "still",
    "psnr_nearest_db": "nearest",
    "ssim": "SSIM",
    "latent_rmse": "latent",
    "hand_error_m": "hand m",
    "object_error_m": "object m",
    "given_up": "lost",
}
"""Column titles of the table of errors by horizon; docs/world-model.md explains them."""

MAKER = "openral world-model collect --config <RL config>"
"""The command that records rollouts."""
DatasetOption = Annotated[Path, typer.Option("--dataset", help="Folder of rollouts, a LeRobot v3 dataset.")]


@app.command()
def collect(
    config: Annotated[
        str,
        typer.Option(
            "--config", autocompletion=rl_configs, help="RL config whose base policy acts: name or path."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the dataset to make.")],
    recipe: Annotated[
        str, typer.Option("--recipe", autocompletion=recipes, help="Recipe with scenes and words.")
    ] = "mini_metaworld",
    episodes: Annotated[int, numbers.count("Episodes a task.")] = 500,
    size: Annotated[int, typer.Option(min=16, max=1024, help="[px] of the square frames.")] = 64,
    seed: Annotated[int | None, numbers.seed("In place of actor.seed.")] = None,
) -> None:
    """Let a config's base policy act and record every frame, state and action. Goes on where it stopped."""
    from openral_data.lerobot_v3 import DatasetWriter, begin_collection
    from openral_training.rl.config import load_config, with_changes
    from openral_training.training_recipe import load_recipe

    check_folder(out, "--out")
    chosen, scenes = with_changes(load_config(config), out=None, seed=seed, epochs=None), load_recipe(recipe)

    import torch  # which takes seconds, as do the simulators

    from openral_training.rl import record_rollouts as rollouts
    from openral_training.rl.initial_policy import BASE, state_policy

    torch.set_num_threads(1)
    env, metadata = chosen.env, rollouts.metadata_of(scenes, chosen.env.tasks, size)
    shards = begin_collection(out, rollouts.settings_of(chosen, metadata))
    requests = rollouts.plan(env.tasks, env.train.init_ids.ids(), episodes)
    rollouts.require_all(shards, requests)
    with progress_bar("recording", len(requests), goes_on=BY_ITSELF) as (bar, task):
        policy = state_policy(chosen, out / BASE, lambda step, note: bar.update(task, note=note))
        writer, solved = DatasetWriter(out, metadata), 0
        recorded = rollouts.record(
            policy,
            scenes,
            requests,
            metadata,
            shards,
            horizon=env.max_episode_steps,
            correlation=chosen.rollout.sampling_params.correlation,
            seed=chosen.actor.seed,
        )
        for episode in recorded:
            writer.add(episode)
            solved += bool(episode.success[:, metadata.tasks.index(episode.task_id)].any())
            bar.update(task, advance=1, note=f"{solved} solved")
    writer.close()
    told = f"{out}: {writer.episodes} episodes, {solved} solved; a LeRobot v3 dataset is ready"
    console.print(told, markup=False, soft_wrap=True)


@app.command("eval")
def evaluate(
    folder: FolderArgument,
    dataset: DatasetOption,
    out: Annotated[Path | None, typer.Option("--out", help="Default: eval/ in the model's folder.")] = None,
    episodes: Annotated[int | None, numbers.count("At most so many held-out attempts.")] = None,
) -> None:
    """Imagine held-out attempts beside the simulator: errors by horizon, how well success is told, a GIF."""
    from rich.table import Table

    from openral_data.lerobot_v3 import open_dataset

    target = check_folder(out or folder / "eval", "--out")
    rollouts = open_dataset(dataset, MAKER)

    import torch  # which takes seconds

    from openral_training.world_model import evaluate as evaluating

    torch.set_num_threads(1)
    with progress_bar("imagining", 1) as (bar, task):
        result = evaluating.evaluate(
            folder,
            rollouts,
            target,
            episodes=episodes,
            progress=lambda done, of: bar.update(task, completed=done, total=of),
        )
    names = [name for name in HORIZON_COLUMNS if name in result["horizons"][0]]
    table = Table(box=None, pad_edge=False)  # ten columns, which are to fit 80 characters
    for name in names:
        table.add_column(HORIZON_COLUMNS[name], justify="right", no_wrap=True)
    for row in result["horizons"]:
        table.add_row(*(_figure(row[name]) for name in names))
    console.print(table)
    for name, value in result["reward"].items():
        console.print(f"{name}: {_figure(value)}")
    console.print(f"{target}: {evaluating.RESULT} and {evaluating.VIDEO}", markup=False, soft_wrap=True)


@app.command()
def convert(
    folder: FolderArgument,
    numpy_objects: Annotated[
        bool,
        typer.Option(
            "--numpy-objects", help="Read .npy files of objects: arrays, dictionaries, texts, numbers only."
        ),
    ] = False,
) -> None:
    """Write the pickles of RLinf's OpenSora layout (traj*.npy, resnet_rm.pth) anew as npz and safetensors."""
    from openral_training.world_model.unpickle_files import convert as converting

    written = converting(folder, numpy_objects=numpy_objects)
    told = f"{folder}: {len(written)} files written, the last {written[-1].name}"
    console.print(told, markup=False, soft_wrap=True)


def world_model(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option("--out", help="Folder of the world model.")],
    picture_steps: Annotated[int, numbers.steps("Optimiser steps of the autoencoder.")] = 2000,
    steps: Annotated[int, numbers.steps("Optimiser steps of dynamics and verdict.")] = 2000,
    drawing_steps: Annotated[
        int, numbers.steps("Optimiser steps of the decoder on what the dynamics imagine.")
    ] = 1000,
    seed: Annotated[int, numbers.seed()] = 0,
    threads: Annotated[int, numbers.workers("Torch threads; not more than idle cores.")] = 1,
) -> None:
    """Train a small latent video model on rollouts. Goes on where it stopped."""
    from openral_data.lerobot_v3 import open_dataset

    folder = TrainingFolder(out, states="*.run.safetensors")
    folder.check()
    rollouts = open_dataset(dataset, MAKER)

    from openral_training.world_model import learn  # with torch, which takes seconds
    from openral_training.world_model.learning import LearnConfig

    config = LearnConfig(
        picture_steps=picture_steps, steps=steps, drawing_steps=drawing_steps, seed=seed, threads=threads
    )
    with progress_bar("training", config.all_steps, goes_on=folder.goes_on) as (bar, task):
        learn.train(
            rollouts,
            out,
            config,
            progress=lambda step, note: bar.update(task, completed=step, note=note),
        )
    told = f"{out}: a world model; `openral world-model eval {out} --dataset {dataset}` judges it"
    console.print(told, markup=False, soft_wrap=True)


def _figure(value: Any) -> str:
    return "none" if value is None else f"{value:.3g}"
