"""Tables of gates and checks, the same look for every verb."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from openral_core.cli.printable import printable_lines

_UNBOUNDED = 10_000
"""Columns of a file or a pipe."""
OK, FAULT = "[green]ok[/green]", "[red]no[/red]"


def console() -> Console:
    """Return a console for results on standard output; where that is no terminal, nothing is cut or wrapped."""
    out = Console(highlight=False, emoji=False)
    if out.is_terminal or os.environ.get("COLUMNS"):
        return out
    return Console(highlight=False, width=_UNBOUNDED, emoji=False)


def cell_text(text: str) -> str:
    """Return anybody's text for tables and lines, where it is neither markup nor commands the terminal."""
    return escape(printable_lines(text))


def print_gates(rows: Sequence[tuple[str, bool, str, str]]) -> None:
    """Print rows of (what, ok, found, fix); the fixes of failing rows follow below, unbroken, to be copied.

    Where a gate has several faults, each fix stands behind what it mends.
    """
    out = console()
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for what, ok, found, _ in rows:
        table.add_row(OK if ok else FAULT, cell_text(what), cell_text(found))
    out.print(table)
    failing: dict[str, list[tuple[str, str]]] = {}
    for what, ok, found, fix in rows:
        if not ok:
            failing.setdefault(what, []).append((found, fix))
    for what, faults in failing.items():
        out.print(f"\n[bold]{cell_text(what)}[/bold]")
        for found, fix in faults:
            out.print(f"  {cell_text(fix if len(faults) == 1 else f'{found}; {fix}')}", soft_wrap=True)
