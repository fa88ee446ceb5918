"""One row of the table that `openral robot check` prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ArmFinding:
    """A finding; `fix` applies if it is not `ok`."""

    what: str
    ok: bool
    found: str
    fix: str = ""
