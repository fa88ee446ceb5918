"""How checks and reports are printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Report

GAP = 4
"""Blanks between the longest name of a report and the colon."""


def compute_padding(report_items: Sequence[tuple[str, object]]) -> int:
    """Return the width of the column of names."""
    return GAP + max((len(name) for name, _ in report_items), default=0)


def format_print(report: Report) -> None:
    """Print a report: its headline, then one value a line."""
    width = compute_padding(report.items)
    lines = [f"\n   {report.name}\n", *(f"{name:<{width}}: {value}\n" for name, value in report.items)]
    sys.stdout.write("".join(lines))
    sys.stdout.flush()


def doctor_warn(msg: str) -> None:
    """Say what may be wrong."""
    _say(f"WARNING: {msg}")


def doctor_error(msg: str) -> None:
    """Say what is wrong."""
    _say(f"ERROR: {msg}")


def _say(words: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()
