"""What a gate says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openral_core.errors import ContractError


@dataclass(frozen=True)
class Finding:
    """One gate and what it found."""

    gate: str
    """What was compared."""
    ok: bool
    """Whether it fits."""
    found: str
    """What the scene, the robot or the skill's folder offers."""
    needed: str
    """What the skill demands."""
    fix: str = ""
    """What to do about it; empty where it is well."""

    @classmethod
    def of(cls, gate: str, ok: bool, found: str, needed: str, fix: str) -> Finding:
        """Make a finding; the fix is kept only where there is something to fix."""
        return cls(gate, ok, found, needed, "" if ok else fix)


def require(findings: Sequence[Finding]) -> None:
    """Raise ContractError, one line a failing row, unless every row is well."""
    failing = [finding for finding in findings if not finding.ok]
    if failing:
        rows = [f"{row.gate}: {row.found}, needed {row.needed}; {row.fix}" for row in failing]
        raise ContractError("\n".join(rows))
