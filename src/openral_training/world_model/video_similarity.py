"""Similarity of two videos, frame by frame: peak signal-to-noise ratio and structural similarity."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_WINDOW, _SIGMA = (11, 11), 1.5
_EDGE = 5
"""[px] width of the border in which the window exceeds the image."""


def psnr(seen: NDArray[np.uint8], truth: NDArray[np.uint8]) -> float:
    """Return 20 log10(255 / RMSE) [dB] of two images (P, P, 3); about 361 for equal images, as in cv2."""
    return float(cv2.PSNR(seen, truth))


def ssim(seen: NDArray[np.uint8], truth: NDArray[np.uint8]) -> float:
    """Return the structural similarity of two images (P, P, 3), mean over channels; 1: equal.

    Wang et al. 2004 (IEEE TIP 13-4): Gaussian window of 11 px and deviation 1.5, K1 0.01, K2 0.03, without the border.
    """
    a, b = seen.astype(np.float64), truth.astype(np.float64)
    mean_a, mean_b = _blurred(a), _blurred(b)
    spread_a, spread_b = _blurred(a * a) - mean_a**2, _blurred(b * b) - mean_b**2
    shared = _blurred(a * b) - mean_a * mean_b
    alike = (2 * mean_a * mean_b + _C1) * (2 * shared + _C2)
    size = (mean_a**2 + mean_b**2 + _C1) * (spread_a + spread_b + _C2)
    return float((alike / size)[_EDGE:-_EDGE, _EDGE:-_EDGE].mean())


def _blurred(image: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(cv2.GaussianBlur(image, _WINDOW, _SIGMA), np.float64)
