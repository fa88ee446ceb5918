"""The result of one check of a scene."""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.errors import OpenralError


@dataclass(frozen=True)
class CheckRow:
    """The result of one check."""

    what: str
    """What was checked."""
    ok: bool
    found: str
    fix: str = ""
    """How to mend it if `ok` is False."""


def fault_rows(what: str, error: OpenralError) -> list[CheckRow]:
    """Return one failed row for each line of an error, whose lines have the form `found; fix`."""
    rows = []
    for line in str(error).splitlines():
        found, _, fix = line.rpartition("; ")
        rows.append(CheckRow(what, False, found or line, fix if found else line))
    return rows
