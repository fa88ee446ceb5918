"""An instant on the two clocks of a node."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Instant:
    """An instant on the node's clock and on a monotonic clock."""

    stamp_s: float
    """[s] node clock, which is simulation time in a simulation; it may be paused."""
    wall_s: float
    """[s] monotonic wall time."""
