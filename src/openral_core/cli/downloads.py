"""Progress bars for what is fetched from a hub."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from openral_core.cli.tables import cell_text


@contextlib.contextmanager
def download_bars(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each file of which the yielded function is told (name, bytes so far, bytes in all)."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as bars:

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(cell_text(name), total=total if total >= 0 else None)
            bars.update(tasks[name], completed=done)

        yield show
