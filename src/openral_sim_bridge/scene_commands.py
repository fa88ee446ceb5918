"""The command line of `openral scene`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers

app = typer.Typer(help="Check a scene before anything runs in it.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `check` a verb of its own."""


@app.command()
def check(
    ref: Annotated[str, typer.Argument(metavar="SCENE", help="Name or path of a scene.")],
    states: Annotated[int, numbers.count("How many initial states are looked at.")] = 5,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder for a picture of each camera; default: none are written.")
    ] = None,
) -> None:
    """Build a scene's world and try it: what is missing, what does not hold, what moves the wrong way."""
    from PIL import Image

    from openral_core.cli.tables import console, print_gates
    from openral_core.files.output_folder import check_folder
    from openral_sim_bridge.scene_check import check_scene

    if pictures is not None:
        check_folder(pictures, "--pictures")
    report = check_scene(ref, states=states)
    print_gates([(row.what, row.ok, row.found, row.fix) for row in report.rows])
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for name, picture in report.pictures.items():
            Image.fromarray(picture).save(pictures / f"{name}.png")
        console().print(f"pictures: {pictures}", soft_wrap=True)
    if not report.ok:
        raise typer.Exit(1)
