"""The verb `openral reasoner ablation`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import check_file


def ablation_command(
    missions: Annotated[int, numbers.count("Missions of each variant.")] = 200,
    seed: Annotated[int, numbers.seed("Of orders and coins.")] = 0,
    out: Annotated[Path | None, typer.Option(help="JSON file for the table.")] = None,
) -> None:
    """Run missions with and without the reward monitor, over skills that stall in half of their attempts."""
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from openral_core.cli.tables import console
    from openral_reasoner.evaluation.monitor_ablation import VARIANTS, row_of, run_variant

    if out is not None:
        check_file(out, "--out")
    rows = []
    with Progress(console=Console(stderr=True, emoji=False), transient=True) as bar:
        task = bar.add_task("missions", total=missions * len(VARIANTS))
        for variant in VARIANTS:
            rows.append(row_of(variant, run_variant(variant, missions, seed, lambda: bar.advance(task))))
    if out is not None:  # before anything is printed: who reads the table may close the pipe
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, json.dumps({"seed": seed, "rows": rows}, indent=1) + "\n")
    table = Table(
        "with",
        "missions",
        "done",
        "95 % interval",
        "false claims",
        "mean s",
        "attempts",
        "questions",
        box=None,
    )
    for row in rows:
        low, high = row["interval"]
        table.add_row(
            str(row["variant"]),
            str(row["missions"]),
            f"{row['success']:.2f}",
            f"{low:.2f}-{high:.2f}",
            str(row["false_claims"]),
            str(row["seconds_mean"]),
            str(row["attempts_mean"]),
            str(row["questions_mean"]),
        )
    console().print(table)
