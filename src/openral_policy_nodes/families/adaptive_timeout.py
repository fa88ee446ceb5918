"""How long a policy waits for its server: as the manifest promises, and longer where this machine shows it must be."""

from __future__ import annotations

from openral_core.manifest import LatencyBudget

LEAST_S = 2.0
"""A busy machine may stand still for this long, whatever was promised. The bridge lets the arm hold long before: this
only says when a server counts as hung, and restarting one costs more than this."""
FIRST_S = 120.0
"""For the first chunk, which loads kernels and fills caches; a longer `warmup_ms` is waited for, too."""
_SPARE = 3.0


class Patience:
    """Deadlines [s] of one server's calls, learnt from its answers."""

    def __init__(self, budget: LatencyBudget) -> None:
        self.least_s = max(LEAST_S, _SPARE * budget.per_chunk_ms * 1e-3)
        """For calls that infer nothing, and for one row."""
        self._first_s = max(FIRST_S, _SPARE * (budget.warmup_ms or 0.0) * 1e-3)
        self._slowest_row_s: float | None = None

    def limit_s(self, rows: int) -> float:
        """Return the deadline of a batch of `rows` observations."""
        if self._slowest_row_s is None:
            return self._first_s * rows
        return max(self.least_s, _SPARE * self._slowest_row_s) * rows

    def note(self, rows: int, seconds: float) -> None:
        """Learn from an answer; the first one is not counted, it is slower than those that follow."""
        known = self._slowest_row_s
        self._slowest_row_s = 0.0 if known is None else max(known, seconds / rows)
