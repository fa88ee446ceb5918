"""Options that several verbs of `openral rskill` take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_rskill.cli.completion import skills

Search = Annotated[
    list[Path] | None,
    typer.Option("--search", help="Folder of skills to look through first; may be repeated."),
]
Ref = Annotated[
    str,
    typer.Argument(
        autocompletion=skills,
        help="Path, name, rskill://rskills/<name>, owner/rskill-name or hf://owner/name[@revision].",
    ),
]
AcceptNoncommercial = Annotated[
    bool,
    typer.Option(
        "--accept-noncommercial",
        help="My use is non-commercial and meets the licence's terms; as OPENRAL_ACCEPT_NONCOMMERCIAL=1.",
    ),
]
