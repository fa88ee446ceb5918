"""Which frames of an attempt the model is shown, and how its answers spread over the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_FRAMES = 8
"""Frames of one scoring; what the released model was trained and evaluated with (its README)."""
MAX_SIDE = 640
"""[px] Larger frames are made smaller before they are sent, and refused by the server: eight of this size stay below a
message's limit, are 400 tokens each for the model, and are what `openral_rskill.peak_memory` counts."""


def chosen_frames(count: int, max_frames: int = MAX_FRAMES) -> NDArray[np.intp]:
    """Return which of `count` frames are shown: evenly spread from the attempt's start, first and last among them.

    Robometer rounds `linspace` to the nearest index (`linspace_subsample_frames` in its data helpers). A window that
    begins later than the attempt is off the distribution it was trained on.

    Args:
        count: number of frames, at least 1.
        max_frames: at least 2; fewer frames than this are all shown.

    Returns:
        (min(count, max_frames),) rising indices.
    """
    return np.linspace(0, count - 1, min(count, max_frames)).round().astype(np.intp)


def spread(values: NDArray[np.float32], chosen: NDArray[np.intp], count: int) -> NDArray[np.float32]:
    """Return one value for each of `count` frames, interpolated between those that were shown.

    Args:
        values: (T,) values of the frames that were shown.
        chosen: (T,) their indices, rising.
        count: number of frames.
    """
    return np.interp(np.arange(count), chosen, values).astype(np.float32)
