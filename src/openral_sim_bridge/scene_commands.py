"""The command line of `openral scene`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import completion, numbers

app = typer.Typer(help="List scenes, and check one before anything runs in it.", no_args_is_help=True)
USES = {
    "deploy": "openral deploy sim",
    "robot": "openral deploy robot",
    "benchmarks": "openral benchmark scene",
}
"""Folder of scenes -> the command that they are written for."""


@app.command("list")
def list_scenes() -> None:
    """List the scenes that ship, by the command that they are for: robot, simulator, and mission or tasks."""
    from rich.table import Table
    from rich.text import Text

    from openral_core.cli.tables import console
    from openral_core.files.share import share_directory
    from openral_core.scene import load_scene

    for folder, use in USES.items():
        table = Table(box=None, pad_edge=False, header_style="dim", title=use, title_justify="left")
        for name in ("scene", "robot", "simulator", "mission or tasks"):
            table.add_column(name, no_wrap=name == "scene", overflow="fold")
        for path in sorted((share_directory() / "scenes" / folder).glob("*.yaml")):
            scene = load_scene(path)
            family = str(scene.scene.backend_options.get("family", "-"))
            tasks = ", ".join(name.rsplit("/", 1)[-1] for name in scene.task_ids)
            table.add_row(path.stem, scene.robot_id, family, Text(scene.mission or tasks or "-"))
        console().print(table, "")


@app.command()
def check(
    ref: Annotated[
        str,
        typer.Argument(metavar="SCENE", autocompletion=completion.scenes, help="Name or path of a scene."),
    ],
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
