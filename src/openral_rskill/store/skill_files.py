"""The files of a skill's repository other than its weights."""

from __future__ import annotations

from pathlib import PurePosixPath

from openral_core.manifest import MANIFEST_NAME

CALIBRATION_NAME = "calibration.json"
"""Calibration of a reward model's scores; see openral_reward_monitor.models.calibration."""


def is_small(name: str) -> bool:
    """Return whether a file belongs to the skill itself (manifest, README, licence, calibration, evaluations)."""
    path = PurePosixPath(name)
    if len(path.parts) == 1:
        known = (MANIFEST_NAME, "README.md", CALIBRATION_NAME)
        return path.name in known or path.name.upper().startswith("LICENSE")
    return path.parts[0] == "eval" and len(path.parts) == 2 and path.suffix == ".json"
