"""A moment on the two clocks that a node lives by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Instant:
    """Now, as the node's clock and a monotonic clock have it."""

    stamp_s: float
    """[s] node clock, which is simulation time where there is one; it may stand still."""
    wall_s: float
    """[s] monotonic; counts on whatever the simulation does."""
