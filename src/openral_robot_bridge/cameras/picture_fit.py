"""Fits a camera's images to the size of the scene's images, and transforms the intrinsics accordingly."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.hardware.real_camera import Fit
from openral_core.image_message import MAX_PIXELS
from openral_core.types import Image

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PictureFit:
    """Crops or pads images, and scales them to the scene's size; the distortion coefficients stay valid."""

    size: tuple[int, int]
    """[px] width and height of the scene's images."""
    fit: Fit = "crop"
    """See `RealCamera.fit`."""

    def picture(self, image: Image) -> Image:
        """Return a copy of an image (H, W, 3) uint8 of any size in the scene's size.

        Raises:
            ContractError: it is so narrow that with bars it would have more than `MAX_PIXELS`.
        """
        height, width = image.shape[:2]
        if (width, height) == self.size:
            return image.copy()
        left, top, cut_width, cut_height = self._cut(width, height)
        part = image[max(top, 0) : max(top, 0) + cut_height, max(left, 0) : max(left, 0) + cut_width]
        if top < 0 or left < 0:
            if cut_width * cut_height > MAX_PIXELS:
                shape = "{}x{}".format(*self.size)
                raise ContractError(
                    f"a picture of {width}x{height} is too narrow for one of {shape} with bars"
                )
            part = np.zeros((cut_height, cut_width, 3), np.uint8)
            part[-top : -top + height, -left : -left + width] = image
        smaller = cut_width >= self.size[0]
        # INTER_AREA averages all pixels; subsampling would alias.
        method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
        scaled: Image = cv2.resize(np.ascontiguousarray(part), self.size, interpolation=method).astype(
            np.uint8
        )
        return scaled

    def lens(self, k: Matrix, width: int, height: int) -> Matrix:
        """Return the intrinsic matrix K (3, 3) [px] of the scene's images.

        Args:
            k: (3, 3) [px] of the camera's images.
            width: [px] of the camera's images.
            height: [px] of the camera's images.
        """
        left, top, cut_width, cut_height = self._cut(width, height)
        scale = np.diag([self.size[0] / cut_width, self.size[1] / cut_height, 1.0])
        shift = np.array([[1.0, 0.0, -left], [0.0, 1.0, -top], [0.0, 0.0, 1.0]])
        fitted: Matrix = scale @ shift @ k
        return fitted

    def _cut(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return left, top, width and height [px] of the part of the image to scale; padding lies outside the image."""
        if self.fit == "stretch":
            return 0, 0, width, height
        aspect = self.size[0] / self.size[1]
        wide = width / height > aspect
        if wide == (self.fit == "crop"):
            cut_width, cut_height = max(1, round(height * aspect)), height
        else:
            cut_width, cut_height = width, max(1, round(width / aspect))
        return (width - cut_width) // 2, (height - cut_height) // 2, cut_width, cut_height
