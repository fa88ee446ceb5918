"""Questions to the simulator's own record of a run, `truth.npz`."""

from __future__ import annotations

from typing import Any

import numpy as np

HORIZON_S = 16 / 80
"""[s] that a chunk of the mock world's skills plans."""
EXACT_S = 1e-6
Truth = dict[str, Any]


def ages_of_executed_steps(truth: Truth) -> Any:
    """Return for each executed step how long before it the observation was that its chunk answers (N,) [s]."""
    accepted = np.sort(truth["chunk_stamp_s"][~truth["chunk_rejected"]])
    executed = truth["stamp_s"][~truth["held"]]
    if not len(executed):
        return np.zeros(1)
    newest = np.searchsorted(accepted, executed + EXACT_S, side="right") - 1
    assert newest.min() >= 0, "a step was executed before any chunk was accepted"
    return executed - accepted[newest]


def moved_while_holding(truth: Truth) -> float:
    """Return the longest way of the set point in a step that held [m]; resets of the world do not count."""
    way = np.abs(np.diff(truth["mocap_pos"], axis=0)).max(axis=1)
    held = truth["held"][1:].copy()
    for stamp in truth["reset_stamp_s"]:
        held &= np.abs(truth["stamp_s"][1:] - stamp) > 2 / float(truth["control_hz"])
    return float(way[held].max(initial=0.0))


def moved_without_goal(truth: Truth) -> int:
    """Return how many steps were executed while no goal was active."""
    return int((~truth["held"] & (truth["goal"] == 0)).sum())


def beyond(truth: Truth, low: Any, high: Any) -> float:
    """Return how far the hand was outside a box at most [m]; the mock world's first three numbers are its place."""
    place = truth["qpos"][:, :3]
    return float(np.maximum(np.asarray(low) - place, place - np.asarray(high)).max(initial=0.0))
