"""The verbs `openral data`; what they need is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openral_data.record_commands import record

app = typer.Typer(help="Recorded episodes: record, look, check, repair, replay.", no_args_is_help=True)
app.add_typer(record, name="record")

Recording = Annotated[Path, typer.Argument(help="Folder of a recording, or of a LeRobot v3 dataset.")]


@app.command()
def repair(folder: Recording) -> None:
    """Make episodes of what a recorder left behind when it was killed or its disk was full."""
    from openral_data.recording.folders import RecordingFolder
    from openral_data.recording.repair import repair_recording

    rings = sorted(folder.glob("ring-*")) or [folder]
    lines = [line for root in {folder, *rings} for line in repair_recording(RecordingFolder(root))]
    for line in lines or ["nothing was left behind"]:
        typer.echo(line)
    raise typer.Exit(1 if any("not repaired" in line for line in lines) else 0)
