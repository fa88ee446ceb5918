"""From a camera's own picture to the scene's size, and its lens with it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.hardware.real_camera import Fit
from openral_core.types import Image

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PictureFit:
    """Cuts or pads pictures of one size, and scales them to another. The lens stays that of a pinhole, or distorted
    as it was."""

    size: tuple[int, int]
    """[px] width and height of the scene's pictures."""
    fit: Fit = "crop"
    """See `RealCamera.fit`."""

    def picture(self, image: Image) -> Image:
        """Return the picture (H, W, 3) uint8 of any size in the scene's, in memory of its own."""
        height, width = image.shape[:2]
        if (width, height) == self.size:
            return image.copy()
        left, top, cut_width, cut_height = self._cut(width, height)
        part = image[max(top, 0) : max(top, 0) + cut_height, max(left, 0) : max(left, 0) + cut_width]
        if top < 0 or left < 0:
            part = np.zeros((cut_height, cut_width, 3), np.uint8)
            part[-top : -top + height, -left : -left + width] = image
        smaller = cut_width >= self.size[0]
        # Averages what falls together; every n-th pixel alone would flicker.
        method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
        scaled: Image = cv2.resize(np.ascontiguousarray(part), self.size, interpolation=method).astype(
            np.uint8
        )
        return scaled

    def lens(self, k: Matrix, width: int, height: int) -> Matrix:
        """Return K (3, 3) [px] of the scene's pictures, given that of pictures of a size [px]."""
        left, top, cut_width, cut_height = self._cut(width, height)
        scale = np.diag([self.size[0] / cut_width, self.size[1] / cut_height, 1.0])
        shift = np.array([[1.0, 0.0, -left], [0.0, 1.0, -top], [0.0, 0.0, 1.0]])
        fitted: Matrix = scale @ shift @ k
        return fitted

    def _cut(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return left, top, width and height [px] of the part that is shown; bars lie outside of the picture."""
        if self.fit == "stretch":
            return 0, 0, width, height
        aspect = self.size[0] / self.size[1]
        wide = width / height > aspect
        if wide == (self.fit == "crop"):
            cut_width, cut_height = max(1, round(height * aspect)), height
        else:
            cut_width, cut_height = width, max(1, round(width / aspect))
        return (width - cut_width) // 2, (height - cut_height) // 2, cut_width, cut_height
