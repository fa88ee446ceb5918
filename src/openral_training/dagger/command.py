"""`openral train dagger`: trains a policy on demonstrations, and on corrections where it stands still."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import completion, numbers
from openral_core.cli.progress import WITH_RESUME, console, told_when_stopped
from openral_core.files.output_folder import check_folder


def dagger_configs(incomplete: str) -> list[str]:
    """Return names of configs that begin so, for the shell's Tab key."""
    from openral_training.dagger.config import PATTERNS

    return completion.shipped(PATTERNS, incomplete)


def dagger(
    config: Annotated[
        str,
        typer.Option(
            "--config", autocompletion=dagger_configs, help="Name of a shipped config, or path of one."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the run.")],
    seed: Annotated[int, numbers.seed()] = 1,
    rounds: Annotated[int | None, numbers.count("In place of the config's.", "--rounds")] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="As many demonstrations in place of corrections, to compare.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run that is there.")] = False,
    threads: Annotated[int, numbers.workers("Torch threads, and processes that judge.")] = 1,
) -> None:
    """Let an operator correct a policy in simulation, and retrain it; print each round on unseen states."""
    from openral_training.dagger.config import load_config

    check_folder(out, "--out")
    chosen = load_config(config)

    from openral_training.dagger.run import DaggerRun  # with torch and simulators, which take seconds

    if rounds is not None:
        chosen = chosen.model_copy(update={"rounds": rounds})
    run = DaggerRun(
        chosen,
        out,
        seed=seed,
        plain=plain,
        command=shlex.join(["openral", *sys.argv[1:]]),
        resume=resume,
        threads=threads,
        say=lambda line: console.print(line, markup=False, soft_wrap=True),
    )
    with told_when_stopped(WITH_RESUME):
        run.go()
    console.print(f"{out}: recordings, dataset, a skill a round, result.json", markup=False, soft_wrap=True)
