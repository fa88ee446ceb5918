"""The one progress bar of everything that takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

console = Console()


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    """Show one progress bar with a note, the time left, and counts."""
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as bar:
        yield bar, bar.add_task(title, total=total, note="")
