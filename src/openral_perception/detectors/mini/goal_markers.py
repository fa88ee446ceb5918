"""Markers: small round spots of pure red, green or blue, by which some scenes show a goal.

They are found by colour and shape alone. What such a marker is like stands in the scene's own description, and training
could teach a network no more about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

NAMES = ("red", "green", "blue")
"""Colours of markers, in the order of a picture's channels."""
OTHERS = 0.2
"""Share of its greatest channel that the other two channels of a marker's pixel have at most. Lit things of a pure
colour keep it, whatever their brightness; cyan, yellow and purple have two channels."""
BRIGHT = 0.3
"""Least greatest channel, 0 to 1: darker pixels have no colour that could be told."""
LEAST_PIXELS, MOST_SHARE = 4, 0.01
"""[px] that a marker covers at least; share of the picture that it covers at most."""
LEAST_ROUND = 0.5
"""Least share of its bounding box that a marker covers; a full disc covers 0.785."""
LONGEST = 2.5
"""Greatest ratio of the sides of that box."""
SIGMA_SHARE = 0.15
"""Standard deviation of its middle, in its widths: something may stand before a part of it."""


@dataclass(frozen=True)
class Spot:
    """A spot of one pure colour."""

    colour: str
    """One of `NAMES`."""
    u: float
    """[px] its middle, from the left edge."""
    v: float
    """[px] from the upper edge."""
    half_width: float
    """[px]"""
    half_height: float
    """[px]"""
    roundness: float
    """0 to 1: share of its bounding box that it covers, by that of a disc."""

    @property
    def sigma_px(self) -> float:
        """[px] standard deviation of u and v."""
        return max(0.5, SIGMA_SHARE * 2.0 * max(self.half_width, self.half_height))


def find_spots(image: NDArray[np.uint8]) -> list[Spot]:
    """Return the spots in a picture (H, W, 3) uint8 RGB, the roundest first."""
    second, greatest = np.sort(image, axis=2)[:, :, 1:].astype(np.float32).transpose(2, 0, 1)
    pure = (second <= OTHERS * greatest) & (greatest >= BRIGHT * 255.0)
    channel = image.argmax(axis=2)
    spots = [
        spot for number, name in enumerate(NAMES) for spot in _spots_of(pure & (channel == number), name)
    ]
    return sorted(spots, key=lambda spot: -spot.roundness)


def _spots_of(mask: NDArray[np.bool_], colour: str) -> list[Spot]:
    count, _, boxes, middles = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    most = MOST_SHARE * mask.size
    spots = []
    for number in range(1, count):
        _, _, width, height, pixels = (int(part) for part in boxes[number])
        share = pixels / (width * height)
        flat = max(width, height) > LONGEST * min(width, height)
        if not LEAST_PIXELS <= pixels <= most or share < LEAST_ROUND or flat:
            continue
        u, v = (float(part) + 0.5 for part in middles[number])
        roundness = min(1.0, share / (np.pi / 4))
        spots.append(Spot(colour, u, v, width / 2, height / 2, roundness))
    return spots
