"""Pictures of a world, drawn again only when something in it has moved: without a GPU drawing is what costs most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.backend import Backend, Snapshot

STILL = 1e-5
"""[m], and rad: where nothing has moved by more since a picture was drawn, it still holds; a pixel is a thousand times
that."""


class StillPictures:
    """What cameras see of the only world of a backend; between resets all that changes is where things are."""

    def __init__(self, backend: Backend, draw: Callable[[Sequence[str]], Mapping[str, NDArray[Any]]]) -> None:
        """Take the backend, and that method of it which draws: its `render`, or its `render_depth`."""
        self._backend, self._draw = backend, draw
        self._drawn: dict[str, NDArray[Any]] = {}
        self._seen: Snapshot | None = None

    def of(self, cameras: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the present picture (H, W, ...) of each camera; not to be written to."""
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
        """Draw anew: the world was put into another state, which may look otherwise."""
        self._seen = None


def _moved(before: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    """Tell whether any coordinate has changed; one that is nan, as of a mocap body that is not there, has not."""
    return bool((np.abs(now - before) > STILL).any())
