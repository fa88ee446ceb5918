"""Finds goal markers: small round spots of pure red, green or blue, which some scenes draw at a goal.

They are found by colour and shape alone, without a network, since the scene's description defines both exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

NAMES = ("red", "green", "blue")
"""Colours of markers, in the order of an image's channels."""
OTHERS = 0.2
"""Most that the two smaller channels of a marker's pixel have, as a share of its greatest channel. Pure colours keep
this share at any brightness; cyan, yellow and purple exceed it, since they have two great channels."""
BRIGHT = 0.3
"""Least value, 0 to 1, of a marker's greatest channel, since the colour of darker pixels is uncertain."""
LEAST_PIXELS, MOST_SHARE = 4, 0.01
"""Least number of pixels of a marker, and its greatest share of the image."""
LEAST_ROUND = 0.5
"""Least share of its bounding box that a marker covers; a full disc covers 0.785."""
LONGEST = 2.5
"""Greatest ratio of the sides of that box."""
SIGMA_SHARE = 0.15
"""Standard deviation of a marker's middle, as a share of its greater side, since a part of it may be hidden."""


@dataclass(frozen=True)
class Spot:
    """A spot of one pure colour."""

    colour: str
    """One of `NAMES`."""
    u: float
    """[px] of its middle, from the left edge."""
    v: float
    """[px] of its middle, from the upper edge."""
    half_width: float
    """[px]"""
    half_height: float
    """[px]"""
    roundness: float
    """Share of its bounding box that it covers, divided by that of a disc (pi / 4); at most 1."""

    @property
    def sigma_px(self) -> float:
        """[px] standard deviation of u and v."""
        return max(0.5, SIGMA_SHARE * 2.0 * max(self.half_width, self.half_height))


def find_spots(image: NDArray[np.uint8]) -> list[Spot]:
    """Return the spots in an image (H, W, 3) uint8 RGB, the roundest first."""
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
