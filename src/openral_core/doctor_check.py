"""One row of what `openral doctor` says of a machine; packages add rows by entry points of `openral.checks`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One row."""

    name: str
    """What was looked at."""
    ok: bool
    """Whether it is well."""
    found: str
    """What there is, or the fault."""
    fix: str = ""
    """Command that fixes it; empty where it is well."""
