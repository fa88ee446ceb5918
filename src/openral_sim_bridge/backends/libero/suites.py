"""Horizons and numbers of initial states of LIBERO's suites."""

from __future__ import annotations

MAX_STEPS = {
    "libero_spatial": 280,
    "libero_object": 280,
    "libero_goal": 300,
    "libero_10": 520,
    "libero_90": 400,
}
"""Suite -> control steps after which an episode is truncated, as in lerobot's LIBERO environment."""
STATES_PER_TASK = 50
"""Number of stored initial states of each task (`.pruned_init`), all of which the published protocol runs."""
