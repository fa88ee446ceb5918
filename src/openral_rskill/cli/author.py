"""`openral rskill new|convert|schema`: for those who bring a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from openral_core.cli import completion
from openral_core.cli.tables import console


def new(
    checkpoint: Annotated[
        str, typer.Argument(help="Folder of a LeRobot policy, or hf://owner/repository[@revision].")
    ],
    folder: Annotated[Path, typer.Argument(help="Folder to write; its name becomes the skill's.")],
    scene: Annotated[
        str,
        typer.Option(
            autocompletion=completion.scenes, help="Scene it is to fit: gives cameras, action, rate and body."
        ),
    ] = "",
    embodiment: Annotated[str, typer.Option(help="Body; default: that of the scene's robot.")] = "",
    owner: Annotated[str, typer.Option(help="First half of the skill's name.")] = "local",
    license_: Annotated[
        str, typer.Option("--license", help="Of the weights; default: what the checkpoint's card says.")
    ] = "",
) -> None:
    """Write a complete skill folder for a checkpoint: manifest, README, eval."""
    from openral_core.files.output_folder import check_folder
    from openral_core.scene import load_scene
    from openral_rskill.hub.scaffold import Choices, new_skill
    from openral_rskill.manifest_assumptions import assumptions

    check_folder(folder, "folder")
    where = load_scene(scene) if scene else None
    choices = Choices(owner=owner, embodiment=embodiment or None, scene=where, license=license_ or None)
    package = new_skill(checkpoint, folder, choices)
    out = console()
    out.print(f"{package.manifest.name} is written: {folder}", markup=False, soft_wrap=True)
    for row in assumptions(package.manifest, where):
        out.print(f"  {escape(row.about)}: {escape(row.taken)}", soft_wrap=True)
    guesses = [
        line for line in (folder / "rskill.yaml").read_text(encoding="utf-8").splitlines() if "# ?" in line
    ]
    out.print(f"{len(guesses)} lines of rskill.yaml are marked with ?: look at them, then", soft_wrap=True)
    out.print(
        f"  openral rskill check {folder}{f' --scene {scene}' if scene else ''}", markup=False, soft_wrap=True
    )


def convert(
    source: Annotated[Path, typer.Argument(help="File that torch.save wrote, or a folder with some.")],
    target: Annotated[Path, typer.Argument(help="The .safetensors file to write, or the folder for them.")],
) -> None:
    """Turn a pickle of plain tensors into safetensors; what needs more than tensors is refused."""
    from openral_core.files.output_folder import check_file, check_folder
    from openral_rskill.hub.pickle_to_safetensors import convert as run

    (check_folder if source.is_dir() else check_file)(target, "target")
    for path in run(source, target):
        console().print(f"{path}", markup=False, soft_wrap=True)


def schema() -> None:
    """Print the JSON Schema of rskill.yaml, for editors."""
    from openral_core.manifest.json_schema import manifest_schema

    typer.echo(json.dumps(manifest_schema(), indent=2))
