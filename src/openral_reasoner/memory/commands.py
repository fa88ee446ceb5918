"""The verbs of `openral memory`: see, write and delete notes and counts of what worked, and take them elsewhere."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openral_core.cli.printable import printable
from openral_core.errors import NotFoundError, OutputError
from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import check_file
from openral_reasoner.memory.notes_file import LIFETIME, Memory, NotesError, default_memory_file

if TYPE_CHECKING:
    from rich.table import Table

    from openral_reasoner.memory.outcomes import Outcomes
    from openral_reasoner.memory.recovery_traces import Traces

memory = typer.Typer(help="Notes and counts that outlive a mission, in plain files.", no_args_is_help=True)
File = Annotated[Path | None, typer.Option(help="The file; default: the one of `openral deploy`.")]


def _chosen(file: Path | None) -> Path:
    """Return the file of notes, which need not exist. Raises NotesError: it is a folder, a pipe or a device."""
    path = file or default_memory_file()
    if os.path.isdir(path):
        raise NotesError(f"--file {path}: is a folder; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):  # to read it might never end
        raise NotesError(f"--file {path}: is a pipe or a device; name a file")
    return path


def _memory(file: Path | None) -> Memory:
    return Memory(_chosen(file))


def _tell_faults(file: Path | None) -> None:
    """Print which lines of the file are no notes. Raises NotesError: it is no text."""
    for fault in _memory(file).faults():
        typer.echo(fault, err=True)


def _tell_row_faults(file: Path | None) -> None:
    """Print what is wrong with the files of counts and traces."""
    for fault in filter(None, (_outcomes(file).fault(), _traces(file).fault())):
        typer.echo(fault, err=True)


def _outcomes(file: Path | None) -> Outcomes:
    from openral_reasoner.memory.outcomes import Outcomes, outcomes_beside

    return Outcomes(outcomes_beside(_chosen(file)))


def _traces(file: Path | None) -> Traces:
    from openral_reasoner.memory.recovery_traces import Traces, traces_beside

    return Traces(traces_beside(_chosen(file)))


def _named_table(*columns: str) -> Table:
    """Return a table whose rows are told apart by skill and task, which are folded and not cut where it is narrow."""
    from rich.table import Table

    table = Table(box=None)
    for name in ("skill", "task", *columns):
        table.add_column(name, overflow="fold")
    return table


def _refuse_others(out: Path) -> None:
    """Raise OutputError if a file is there that is no earlier export."""
    if not out.is_file():
        return
    try:
        former = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        former = None
    if not isinstance(former, dict) or set(former) != {"notes", "counts", "traces"}:
        raise OutputError(f"OUT {out}: is there, and is no export of a memory; name another file")


@memory.command("list")
def list_notes(file: File = None) -> None:
    """Print the notes with their numbers, where they come from, and until when they are kept."""
    from rich.table import Table
    from rich.text import Text

    from openral_core.cli.tables import cell_text, console

    _tell_faults(file)
    table = Table("no.", "note", "from", "written", "kept until", box=None)
    for number, note in enumerate(_memory(file).notes(), 1):
        table.add_row(
            str(number),
            Text(printable(note.text)),
            Text(printable(note.source)),
            note.written.isoformat(),
            note.expires.isoformat(),
        )
    console().print(table if table.row_count else cell_text(f"no notes in {file or default_memory_file()}"))


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


@memory.command("show")
def show_outcomes(file: File = None) -> None:
    """Print how often each way of trying worked, by skill and task, and what worked after which failures."""
    from rich.text import Text

    from openral_core.cli.tables import cell_text, console
    from openral_core.statistics import wilson_interval

    _tell_row_faults(file)
    table = _named_table("tried as", "worked", "of", "95 % interval")
    rows = sorted(_outcomes(file).rows(), key=lambda row: (row.skill, row.task, row.rung))
    for row in rows:
        low, high = wilson_interval(row.successes, row.tries)
        cells = (row.skill, row.task, row.rung, str(row.successes), str(row.tries), f"{low:.2f}-{high:.2f}")
        table.add_row(*(Text(printable(cell)) for cell in cells))
    if rows or not _outcomes(file).fault():
        console().print(table if rows else cell_text(f"nothing was counted in {_outcomes(file).path}"))
    stories = _named_table("after these had failed", "worked", "times")
    for trace in sorted(_traces(file).rows(), key=lambda trace: (trace.skill, trace.task, trace.failed)):
        failed = (trace.skill, trace.task, ", ".join(trace.failed), trace.worked, str(trace.times))
        stories.add_row(*(Text(printable(cell)) for cell in failed))
    if stories.row_count:
        console().print()
        console().print(stories)


@memory.command("forget")
def forget_note(
    number: Annotated[
        int | None, typer.Argument(min=1, max=10**6, help="Of a note, as `openral memory list` shows it.")
    ] = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Delete all counts and traces of what worked.")
    ] = False,
    file: File = None,
) -> None:
    """Delete a note, or all counts and traces."""
    if counts is (number is not None):
        raise typer.BadParameter("name the number of a note, or --counts", param_hint="NUMBER")
    if number is None:
        typer.echo(f"forgotten: {_outcomes(file).forget()} counts, {_traces(file).forget()} traces")
        return
    gone = _memory(file).forget(number)
    if gone is None:
        raise NotFoundError(f"there is no note {number}; see `openral memory list`")
    typer.echo(f"forgotten: {printable(gone.text)}")


@memory.command("export")
def export_memory(
    out: Annotated[Path, typer.Argument(help="The JSON file to write.")], file: File = None
) -> None:
    """Write notes, counts and traces to one JSON file."""
    check_file(out, "OUT")
    _refuse_others(out)
    _tell_faults(file)
    _tell_row_faults(file)
    notes = [
        {"text": n.text, "source": n.source, "written": str(n.written), "expires": str(n.expires)}
        for n in _memory(file).notes()
    ]
    counts = [row.model_dump() for row in _outcomes(file).rows()]
    traces = [row.model_dump(mode="json") for row in _traces(file).rows()]
    document = {"notes": notes, "counts": counts, "traces": traces}
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, json.dumps(document, indent=2) + "\n")
    typer.echo(f"{out}: {len(notes)} notes, {len(counts)} counts, {len(traces)} traces")
