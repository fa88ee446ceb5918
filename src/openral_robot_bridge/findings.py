"""One row of what `openral robot check` says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ArmFinding:
    """One finding; `fix` counts where it is not `ok`."""

    what: str
    ok: bool
    found: str
    fix: str = ""
