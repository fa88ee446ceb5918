"""Views in which a reward model sees a world: as the scene defines it, or with a shift from training."""

from __future__ import annotations

from enum import Enum

CAMERA_OFF_M = 0.03
"""[m] by which cameras are moved in `View.moved_camera`, in a random direction."""


class View(str, Enum):
    """A view of a world."""

    plain = "plain"
    """As the scene defines it."""
    other_look = "other-look"
    """With random lights and tints of materials; see `openral_training.relight`."""
    moved_camera = "moved-camera"
    """With every camera moved by CAMERA_OFF_M, in its former orientation."""
