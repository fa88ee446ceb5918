"""How these Pandas are commanded; both sides of the wire agree on it."""

from __future__ import annotations

CONTROL_HZ = 20.0
"""[Hz] of LIBERO's and robosuite's data sets and evaluations."""
ACTION_DIM = 7
"""Three numbers of position, three of rotation, one of the gripper."""
OPEN = -1.0
"""The gripper's command that opens it; 1 closes it."""
