"""Identity of the checkpoint that a LeRobot server holds, computed by both client and server."""

from __future__ import annotations

from openral_policy_nodes.families.lerobot.checkpoint import LeRobotCheckpoint
from openral_sidecar.identity import Identity


def identity_of(checkpoint: LeRobotCheckpoint, dtype: str) -> Identity:
    """Return the identity: folder, LeRobot's name of the policy, number format, and fingerprint of the files."""
    return Identity(str(checkpoint.folder), checkpoint.kind, dtype, checkpoint.fingerprint())
