"""LIBERO's suites, known on both sides of the wire."""

from __future__ import annotations

MAX_STEPS = {
    "libero_spatial": 280,
    "libero_object": 280,
    "libero_goal": 300,
    "libero_10": 520,
    "libero_90": 400,
}
"""Suite -> control steps until an episode is cut off, as in lerobot's LIBERO environment."""
STATES_PER_TASK = 50
"""Stored initial states of each task (`.pruned_init`), all of which the published protocol runs."""
CONTROL_HZ = 20.0
"""[Hz] of LIBERO's data sets and evaluation."""
ACTION_DIM = 7
"""Three numbers of position, three of rotation, one of the gripper."""
OPEN, CLOSED = -1.0, 1.0
"""The gripper's commands."""
