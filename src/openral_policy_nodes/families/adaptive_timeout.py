"""Deadline of a policy's calls to its server: from the manifest's latency budget, and from the latencies measured."""

from __future__ import annotations

from openral_core.manifest import LatencyBudget

LEAST_S = 2.0
"""[s] least deadline, since a busy machine may stall for as long.

The deadline only decides when a server is taken to hang, and a restart takes longer than this. The bridge makes the arm
hold long before it.
"""
FIRST_S = 120.0
"""[s] least deadline of a server's first chunk, for which the server loads kernels and fills caches."""
_SPARE = 3.0
"""Ratio of a deadline to the expected latency."""


class AdaptiveTimeout:
    """Deadlines of the calls to one server, adapted to the latency of its answers."""

    def __init__(self, budget: LatencyBudget) -> None:
        self.least_s = max(LEAST_S, _SPARE * budget.per_chunk_ms * 1e-3)
        """[s] deadline of calls without inference, and least deadline for each observation."""
        self._first_s = max(FIRST_S, _SPARE * (budget.warmup_ms or 0.0) * 1e-3)
        self.given_s = 0.0
        """[s] the deadline that `limit_s` returned last; 0: none so far."""
        self._slowest_row_s: float | None = None
        self._starts = 0

    def limit_s(self, rows: int, starts: int = 0) -> float:
        """Return the deadline [s] of a batch of `rows` observations.

        Args:
            rows: number of observations.
            starts: number of servers so far (`Sidecar.starts`); the first answer of each has the first deadline.
        """
        if starts != self._starts:
            self._starts = starts
            self.forget()
        known = self._slowest_row_s
        row_s = self._first_s if known is None else max(self.least_s, _SPARE * known)
        self.given_s = row_s * rows
        return self.given_s

    def forget(self) -> None:
        """Give the next answer the first deadline again, as it may come from a server that was restarted."""
        self._slowest_row_s = None

    def note(self, rows: int, seconds: float) -> None:
        """Add the latency [s] of an answer to `rows` observations; the first one is ignored, as it is slower."""
        known = self._slowest_row_s
        self._slowest_row_s = 0.0 if known is None else max(known, seconds / rows)
