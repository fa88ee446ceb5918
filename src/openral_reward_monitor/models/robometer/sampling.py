"""Choice of the frames that the model scores, and interpolation of its scores for the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_FRAMES = 8
"""Most frames in one scoring, as the released model was trained and evaluated (its README)."""
MAX_SIDE = 640
"""[px] greatest side of a frame; larger ones are scaled down before they are sent, and the server refuses them. Eight
frames of this size are below a message's limit, have 400 tokens each, and are what `openral_rskill.peak_memory` counts.
"""


def chosen_frames(count: int, max_frames: int = MAX_FRAMES) -> NDArray[np.intp]:
    """Return the indices of the frames to be scored: evenly spread over `count` frames, first and last included.

    Robometer rounds `linspace` to the nearest index (`linspace_subsample_frames` in its data helpers). A window that
    begins later than the attempt is off the distribution it was trained on.

    Args:
        count: number of frames, at least 1.
        max_frames: at least 2; if `count` is less, all frames are scored.

    Returns:
        (min(count, max_frames),) rising indices.
    """
    return np.linspace(0, count - 1, min(count, max_frames)).round().astype(np.intp)


def spread(values: NDArray[np.float32], chosen: NDArray[np.intp], count: int) -> NDArray[np.float32]:
    """Return one value for each of `count` frames, interpolated linearly between those that were scored.

    Args:
        values: (T,) values of the scored frames.
        chosen: (T,) their indices, rising.
        count: number of frames.
    """
    return np.interp(np.arange(count), chosen, values).astype(np.float32)
