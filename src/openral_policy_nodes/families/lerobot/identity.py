"""Which checkpoint a LeRobot server answers for; the same on both sides of the wire."""

from __future__ import annotations

from openral_policy_nodes.families.lerobot.checkpoint import LeRobotCheckpoint
from openral_sidecar.identity import Identity


def identity_of(checkpoint: LeRobotCheckpoint, dtype: str) -> Identity:
    """Return the identity: the folder, LeRobot's name of the policy, the number format, the files' fingerprint."""
    return Identity(str(checkpoint.folder), checkpoint.kind, dtype, checkpoint.fingerprint())
