"""The result of one gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openral_core.errors import ContractError


@dataclass(frozen=True)
class Finding:
    """The result of one gate."""

    gate: str
    """What was compared."""
    ok: bool
    """Whether it fits."""
    found: str
    """What the scene, the robot or the skill's folder offers."""
    needed: str
    """What the skill requires."""
    fix: str = ""
    """How to mend it; empty if `ok` is True."""

    @classmethod
    def of(cls, gate: str, ok: bool, found: str, needed: str, fix: str) -> Finding:
        """Return a finding, without the fix if it is ok."""
        return cls(gate, ok, found, needed, "" if ok else fix)


def require(findings: Sequence[Finding]) -> None:
    """Raise ContractError, with one line for each failed finding, unless all are ok."""
    failing = [finding for finding in findings if not finding.ok]
    if failing:
        rows = [f"{row.gate}: {row.found}, needed {row.needed}; {row.fix}" for row in failing]
        raise ContractError("\n".join(rows))
