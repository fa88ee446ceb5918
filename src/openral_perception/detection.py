"""What every detector offers: things in a picture, with how sure it is of them and how well the words name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FITS = 0.5
"""Least `Detection.fit` of a thing that the words name."""


@dataclass(frozen=True)
class Detection:
    """One thing that was seen."""

    u: float
    """[px] a point of its surface, near its middle, from the left edge."""
    v: float
    """[px] from the upper edge."""
    box: tuple[float, float, float, float]
    """[px] left, top, right, bottom."""
    label: str
    """What it is, in the detector's words, the colour first where it is known: red cube."""
    score: float
    """How sure the detector is that it is there, 0 to 1."""
    fit: float = 1.0
    """How well the words that were asked for name it, 0 to 1; from `FITS` on it is meant."""
    pixel_sigma: float = 1.0
    """[px] standard deviation of u and v."""
    inward_m: float = 0.0
    """[m] from the surface that is seen to the thing's own position, along the ray."""


class ObjectDetector(Protocol):
    """Finds things in a picture. Used from one thread."""

    name: str
    """What answers carry as their source."""

    def find(self, image: NDArray[np.uint8], words: str) -> list[Detection]:
        """Return what is seen in a picture (H, W, 3) uint8 RGB, what fits the words best first.

        Args:
            image: of any size.
            words: such as "the red cube"; empty: everything that it knows fits.

        Raises:
            ContractError: the words say nothing that this detector knows; the text says what it knows.
            OpenralError: the detector did not answer.
        """
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...
