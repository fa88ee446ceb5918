"""A cache of a world's images, which are rendered again only after something has moved, since rendering costs most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.backend import Backend, Snapshot

STILL = 1e-5
"""[m or rad] largest change of a coordinate for which an image is reused; a pixel spans about a thousand times that."""


class StillPictures:
    """Caches the images of a backend's only world; between resets they depend on its snapshot alone."""

    def __init__(self, backend: Backend, draw: Callable[[Sequence[str]], Mapping[str, NDArray[Any]]]) -> None:
        """Take the backend and its method that renders: `render` or `render_depth`."""
        self._backend, self._draw = backend, draw
        self._drawn: dict[str, NDArray[Any]] = {}
        self._seen: Snapshot | None = None

    def of(self, cameras: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the present image (H, W, ...) of each camera; do not write to it."""
        now = self._backend.snapshot()
        if (
            self._seen is None
            or _moved(self._seen.qpos, now.qpos)
            or _moved(self._seen.mocap_pos, now.mocap_pos)
        ):
            self._drawn.clear()
            self._seen = now
        if missing := [name for name in cameras if name not in self._drawn]:
            self._drawn.update({name: batch[0] for name, batch in self._draw(missing).items()})
        return {name: self._drawn[name] for name in cameras}

    def forget(self) -> None:
        """Discard the images, after a reset of the world."""
        self._seen = None


def _moved(before: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    """Return whether any coordinate has changed; nan, the position of an absent mocap body, never does."""
    return bool((np.abs(now - before) > STILL).any())
