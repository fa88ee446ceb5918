"""The verb `openral train planner`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_training.devices import Device, DeviceOption
from openral_training.training_folder import TrainingFolder


def planner(
    out: Annotated[Path, typer.Option("--out", help="Folder for planner.safetensors and planner_eval.json.")],
    steps: Annotated[int, numbers.steps("Optimiser steps.")] = 2600,
    learning_rate: Annotated[float, numbers.real("Peak.", "--learning-rate", least=1e-6, most=1.0)] = 1e-3,
    without: Annotated[
        list[Path] | None,
        typer.Option("--without", help="Suites, or lists of nouns, whose objects training shall never see."),
    ] = None,
    warm_start: Annotated[
        Path | None, typer.Option("--warm-start", help="planner.safetensors to go on from.")
    ] = None,
    seed: Annotated[int, numbers.seed()] = 0,
    threads: Annotated[int, numbers.workers("Torch threads; not more than idle cores.")] = 1,
    device: DeviceOption = Device.auto,
) -> None:
    """Train the offline planner's matcher on orders that a generator makes; about an hour on one core.

    Goes on where it stopped.
    """
    from openral_core.cli.progress import console, progress_bar
    from openral_training.planner.deployments import nouns_of

    folder = TrainingFolder(out, result="planner.safetensors")
    folder.check()
    nouns = {noun for path in without or () for noun in nouns_of(path)}

    from openral_training.data_parallel import require_one_process  # with torch, which takes seconds
    from openral_training.planner.train import PlannerConfig, train

    require_one_process("openral train planner", "start one process, without it")
    config = PlannerConfig(steps=steps, learning_rate=learning_rate, seed=seed, threads=threads)
    with progress_bar("training", steps, goes_on=folder.goes_on) as (bar, task):
        report = train(
            out,
            config,
            nouns,
            lambda step, loss: bar.update(task, completed=step, note=f"loss {loss:.3f}"),
            warm_start,
            device.value,
        )
    found = report["held_out_objects"]
    shares = ", ".join(f"{name.replace('_', ' ')} {entry['share']:.3f}" for name, entry in found.items())
    told = f"{out}: planner.safetensors written; on objects held out: {shares}"
    console.print(told, markup=False, soft_wrap=True)
