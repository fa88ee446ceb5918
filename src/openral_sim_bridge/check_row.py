"""The answer to one question about a scene."""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.errors import OpenralError


@dataclass(frozen=True)
class CheckRow:
    """The answer to one question."""

    what: str
    ok: bool
    found: str
    fix: str = ""


def fault_rows(what: str, error: OpenralError) -> list[CheckRow]:
    """Return one row for each line of an error, `what; fix`."""
    rows = []
    for line in str(error).splitlines():
        found, _, fix = line.rpartition("; ")
        rows.append(CheckRow(what, False, found or line, fix if found else line))
    return rows
