"""The row of one trial of a skill on a twin, and the summary of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from openral_core.statistics import wilson_interval


@dataclass(frozen=True)
class TrialRow:
    """Result of one trial."""

    init_id: int
    """Number of the initial state."""
    success: bool
    """Whether the task was done, by the judge of the twin's simulator."""
    steps: int
    """Number of control steps that were executed for the goal, until it ended or was cancelled on success."""
    wall_s: float
    """[s] wall time from the goal to its end."""
    outcome: str
    """Outcome of the goal: with success CANCELED, as the operator then cancels it; in lockstep 'done' or why not."""
    check: str
    """Name of the check that ended the goal."""
    latency_p50_ms: float
    """[ms] median latency of an inference; 0: there was none."""
    latency_p95_ms: float
    """[ms] 95th percentile of the latency of an inference; 0: there was none."""
    behind_rad: float
    """[rad] largest tracking error of a joint."""
    twin_s: float
    """[s] of the twin's time from the goal to its end; less than `wall_s` if the machine was too slow for the twin."""
    missed: int
    """Number of 1 ms cycles of the arm's motion in which no command came within the twin's patience."""
    stopped_by: str
    """Reason why the arm did not move at the end; empty: there was none."""
    ended_by_arm: bool = False
    """Whether the arm ended the trial by a reflex, a fault or its user stop, or as it did not answer any more."""


def summary(rows: Sequence[TrialRow]) -> dict[str, Any]:
    """Return successes, success rate, its 95 % Wilson interval, medians over the trials, and their rows.

    The medians of the latency are over the trials with an inference; they are None where there is no such trial.
    """
    successes = sum(row.success for row in rows)
    low, high = wilson_interval(successes, len(rows))
    done = [row.steps for row in rows if row.success]
    return {
        "success_rate": round(successes / len(rows), 4),
        "wilson_95": [round(low, 4), round(high, 4)],
        "successes": successes,
        "n_episodes": len(rows),
        "steps_to_success_p50": float(np.median(done)) if done else None,
        "latency_p50_ms": _median_of_measured([row.latency_p50_ms for row in rows]),
        "latency_p95_ms": _median_of_measured([row.latency_p95_ms for row in rows]),
        "behind_rad_p50": round(float(np.median([row.behind_rad for row in rows])), 4),
        "behind_rad_max": round(max(row.behind_rad for row in rows), 4),
        "real_time": round(sum(row.twin_s for row in rows) / max(sum(row.wall_s for row in rows), 1e-9), 3),
        "ended_by_arm": sum(row.ended_by_arm for row in rows),
        "commands_missed": sum(row.missed for row in rows),
        "episodes": [asdict(row) for row in rows],
    }


def _median_of_measured(values_ms: Sequence[float]) -> float | None:
    """Return the median [ms] without the zeros of trials that inferred nothing; None: there is no other."""
    measured = [value for value in values_ms if value > 0.0]
    return round(float(np.median(measured)), 2) if measured else None
