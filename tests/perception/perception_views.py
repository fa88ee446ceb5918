"""A view of a flat wall, and a detector that says what it is told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from openral_core.errors import PolicyError
from openral_perception.detection import Detection
from openral_perception.geometry import PinholeCamera
from openral_perception.locator import CameraView


def view(depth=None, age_s: float = 0.1) -> CameraView:
    """A wall 1 m before a camera that stands in the world's origin and looks along z."""
    model = PinholeCamera(64, 48, 60.0, 60.0, 32.0, 24.0, np.zeros(3), np.eye(3))
    image = np.full((48, 64, 3), 120, np.uint8)
    wall = np.ones((48, 64), np.float32) if depth is None else depth
    return CameraView("front", 5.0, age_s, image, wall, model)


def found(u: float, v: float, label: str, *, fit: float = 1.0, score: float = 0.9) -> Detection:
    return Detection(u, v, (u - 2, v - 2, u + 2, v + 2), label, score, fit)


class FakeDetector:
    """Finds what it was made with."""

    name = "fake"

    def __init__(self, seen: Sequence[Detection], fault: str = "") -> None:
        self._seen, self._fault = list(seen), fault

    def find(self, image, words):
        if self._fault:
            raise PolicyError(self._fault)
        return self._seen

    def close(self) -> None:
        pass
