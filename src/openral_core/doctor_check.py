"""One check of `openral doctor`; packages add checks by entry points of the group `openral.checks`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """Result of one check."""

    name: str
    """What was checked."""
    ok: bool
    """Whether the check passed."""
    found: str
    """What was found, or the fault."""
    fix: str = ""
    """Command that fixes the fault; empty if the check passed."""
