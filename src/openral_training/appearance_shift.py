"""How a world is shown to a judge: as its scene has it, or not as in training."""

from __future__ import annotations

from enum import Enum

CAMERA_OFF_M = 0.03
"""[m] by which a camera is off in `View.moved_camera`, in any direction."""


class View(str, Enum):
    """How a world is seen."""

    plain = "plain"
    """As its scene has it."""
    other_look = "other-look"
    """Other lights, and materials of other tints; see `openral_training.relight`."""
    moved_camera = "moved-camera"
    """Every camera CAMERA_OFF_M away from its place, turned as it was."""
