"""The one progress bar of everything that takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from openral_core.cli.tables import console as result_console

console = result_console()
"""For bars, and for what is printed below them."""

BY_ITSELF = "the same command goes on from what is kept"
WITH_RESUME = "the same command with --resume goes on from what is kept"


@contextmanager
def told_when_stopped(goes_on: str | Callable[[], str] = "") -> Iterator[None]:
    """Say, when Ctrl-C ends the block, that it was stopped, and how the work is taken up again; empty: it is not.

    A function is asked for the words then.
    """
    try:
        yield
    except KeyboardInterrupt:
        goes_on = goes_on if isinstance(goes_on, str) else goes_on()
        Console(stderr=True, emoji=False).print(
            f"stopped{goes_on and '; '}{goes_on}", highlight=False, soft_wrap=True
        )
        raise


@contextmanager
def progress_bar(
    title: str, total: int, *, goes_on: str | Callable[[], str] = ""
) -> Iterator[tuple[Progress, TaskID]]:
    """Show one progress bar with a note, the time left, and counts.

    Args:
        title: what is done.
        total: how much of it there is.
        goes_on: said when Ctrl-C ends the work: how it is taken up again, or what returns it; empty: it is not.
    """
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with told_when_stopped(goes_on), Progress(*columns, console=console) as bar:
        yield bar, bar.add_task(title, total=total, note="")
