"""The interface of object detectors: objects in an image, each with a score and its fit to the words of the request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FITS = 0.5
"""Least `Detection.fit` of an object that the words name."""


@dataclass(frozen=True)
class Detection:
    """One object in an image."""

    u: float
    """[px] from the left edge: a point of the object's surface, near its middle."""
    v: float
    """[px] from the upper edge: the same point."""
    box: tuple[float, float, float, float]
    """[px] left, top, right, bottom."""
    label: str
    """Name of the object in the detector's vocabulary, with its colour first if that is known, such as `red cube`."""
    score: float
    """Confidence, 0 to 1, that the object is there."""
    fit: float = 1.0
    """How well the words of the request name it, 0 to 1; from `FITS` on they name it."""
    pixel_sigma: float = 1.0
    """[px] standard deviation of u and v."""
    inward_m: float = 0.0
    """[m] along the viewing ray, from the visible surface to the object's position."""


class ObjectDetector(Protocol):
    """Finds objects in an image. Used from one thread."""

    name: str
    """Source that answers name."""

    def find(self, image: NDArray[np.uint8], words: str) -> list[Detection]:
        """Return the objects in an image (H, W, 3) uint8 RGB, those that fit the words best first.

        Args:
            image: of any size.
            words: such as "the red cube"; if empty, every object that the detector knows fits.

        Raises:
            ContractError: the detector knows no object of these words; the text lists those that it knows.
            OpenralError: the detector did not answer.
        """
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...
