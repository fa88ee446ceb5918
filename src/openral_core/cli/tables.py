"""Tables of gates and checks, the same look for every verb."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_UNBOUNDED = 10_000
"""Columns of a file or a pipe."""
OK, FAULT = "[green]ok[/green]", "[red]no[/red]"


def console() -> Console:
    """Return a console for results on standard output; where that is no terminal, nothing is cut or wrapped."""
    out = Console(highlight=False)
    if out.is_terminal or os.environ.get("COLUMNS"):
        return out
    return Console(highlight=False, width=_UNBOUNDED)


def print_gates(rows: Sequence[tuple[str, bool, str, str]]) -> None:
    """Print rows of (what, ok, found, fix); the fixes of failing rows follow below, unbroken, to be copied."""
    out = console()
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for what, ok, found, _ in rows:
        table.add_row(OK if ok else FAULT, escape(what), escape(found))
    out.print(table)
    for what, ok, _, fix in rows:
        if not ok:
            out.print(f"\n[bold]{escape(what)}[/bold]\n  {escape(fix)}", soft_wrap=True)
