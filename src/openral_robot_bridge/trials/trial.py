"""One trial of a skill on a twin, and what came of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from openral_core.statistics import wilson_interval


@dataclass(frozen=True)
class TrialRow:
    """What became of one trial."""

    init_id: int
    success: bool
    """By the twin's simulator."""
    steps: int
    """Control steps that were executed for the goal, until it was cancelled at the success, or ended."""
    wall_s: float
    """[s] from the goal to its end."""
    outcome: str
    """Of the goal; a success ends as CANCELED, since nobody tells the policy."""
    check: str
    """Which check ended the goal."""
    latency_p50_ms: float
    """[ms] of an inference."""
    latency_p95_ms: float
    behind_rad: float
    """[rad] by which a joint was at most from where it was led."""
    twin_s: float
    """[s] of the twin's time from the goal to its end; less than `wall_s` where the machine was too slow for it."""
    missed: int
    """Cycles of 1 ms of the arm's motion in which no command of its client came, within the patience of the twin."""
    stopped_by: str
    """What kept the arm from moving at the end; empty: nothing."""
    ended_by_arm: bool = False
    """The arm ended it: by a reflex, a fault or its user stop, or since it did not answer any more."""


def summary(rows: Sequence[TrialRow]) -> dict[str, Any]:
    """Return successes, rate, Wilson interval, and medians over the trials."""
    successes = sum(row.success for row in rows)
    low, high = wilson_interval(successes, len(rows))
    done = [row.steps for row in rows if row.success]
    return {
        "success_rate": round(successes / len(rows), 4),
        "wilson_95": [round(low, 4), round(high, 4)],
        "successes": successes,
        "n_episodes": len(rows),
        "steps_to_success_p50": float(np.median(done)) if done else None,
        "latency_p50_ms": round(float(np.median([row.latency_p50_ms for row in rows])), 2),
        "latency_p95_ms": round(float(np.median([row.latency_p95_ms for row in rows])), 2),
        "behind_rad_p50": round(float(np.median([row.behind_rad for row in rows])), 4),
        "behind_rad_max": round(max(row.behind_rad for row in rows), 4),
        "real_time": round(sum(row.twin_s for row in rows) / max(sum(row.wall_s for row in rows), 1e-9), 3),
        "ended_by_arm": sum(row.ended_by_arm for row in rows),
        "commands_missed": sum(row.missed for row in rows),
        "episodes": [asdict(row) for row in rows],
    }
