"""The verbs of `openral memory`: see, write and delete the notes that a language model gets to read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from openral_core.errors import NotFoundError
from openral_core.files.output_folder import check_file
from openral_reasoner.memory.memory import LIFETIME, Memory, default_memory_file

memory = typer.Typer(help="Notes that outlive a mission, in a plain file.", no_args_is_help=True)
File = Annotated[Path | None, typer.Option(help="The file; default: the one of `openral deploy`.")]


def _memory(file: Path | None) -> Memory:
    return Memory(file or default_memory_file())


@memory.command("list")
def list_notes(file: File = None) -> None:
    """Print the notes with their numbers, where they come from, and until when they are kept."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("no.", "note", "from", "written", "kept until", box=None)
    for number, note in enumerate(_memory(file).notes(), 1):
        table.add_row(
            str(number),
            Text(note.text),
            Text(note.source),
            note.written.isoformat(),
            note.expires.isoformat(),
        )
    Console().print(table if table.row_count else f"no notes in {file or default_memory_file()}")


@memory.command("add")
def add_note(
    text: Annotated[str, typer.Argument(help="One short fact, at most 200 characters.")],
    days: Annotated[int, typer.Option(min=1, max=36500, help="Days until it is forgotten.")] = LIFETIME.days,
    file: File = None,
) -> None:
    """Write a note of your own."""
    check_file(file or default_memory_file(), "--file")
    said = _memory(file).remember(text, source="operator", lifetime=timedelta(days=days))
    typer.echo(said)
    if said != "kept":
        raise typer.Exit(1)


@memory.command("forget")
def forget_note(
    number: Annotated[int, typer.Argument(min=1, max=10**6, help="As `openral memory list` shows it.")],
    file: File = None,
) -> None:
    """Delete a note."""
    gone = _memory(file).forget(number)
    if gone is None:
        raise NotFoundError(f"there is no note {number}; see `openral memory list`")
    typer.echo(f"forgotten: {gone.text}")
