"""Options that the verbs of `openral benchmark` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Skill = Annotated[str, typer.Option("--rskill", help="Name, reference or folder of a skill.")]
PolicyUrl = Annotated[
    str,
    typer.Option(
        help="A policy that is served elsewhere: ws://host:port as openpi, zmq://host:port as RLDX-1 or GR00T."
    ),
]
Contract = Annotated[
    str, typer.Option(help="What that policy takes and gives: a name in benchmarks/contracts, or a file.")
]
Episodes = Annotated[int, typer.Option(min=0, help="A task; 0: as the suite says.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes with worlds; 0: one a core.")]
Cluster = Annotated[
    str, typer.Option(help="local: this machine; auto: the Ray cluster it belongs to; or ray://host:port.")
]
Worlds = Annotated[int, typer.Option(min=1, help="Worlds under one batch; changes rows slightly.")]
Device = Annotated[str, typer.Option(help="Where the policy infers: cpu, cuda.")]
Out = Annotated[Path | None, typer.Option(help="Folder; default: runs/<suite>-<skill>.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the rows that are there.")]
Patience = Annotated[
    float, typer.Option(min=1, help="Seconds of silence after which worlds or policy are cut off.")
]
Videos = Annotated[
    int, typer.Option(min=0, help="Films of the first so many successes and failures of each task.")
]
UpdateManifest = Annotated[
    bool, typer.Option("--update-manifest", help="Write the result into the skill's folder, too.")
]
AllowUnevaluated = Annotated[
    bool, typer.Option("--allow-unevaluated", help="Run tasks that it was not evaluated on.")
]
