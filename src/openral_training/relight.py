"""Random lights and tints: changes what a renderer draws, without moving anything in the world."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.rendering.renderer import OffscreenRenderer


class Relighting:
    """Changes lights and tints of a renderer's model; each change begins from the model's original values."""

    def __init__(self, renderer: OffscreenRenderer) -> None:
        self._renderer = renderer
        model = self._model = renderer.model
        self._fields: dict[str, NDArray[Any]] = {
            name: getattr(model, name).copy()
            for name in ("geom_rgba", "geom_matid", "mat_rgba", "light_diffuse", "light_dir")
        }
        self._headlight = (model.vis.headlight.diffuse.copy(), model.vis.headlight.ambient.copy())

    def plain(self) -> None:
        """Restore the original lights, tints and colours, and remove added shapes."""
        for name, value in self._fields.items():
            getattr(self._model, name)[:] = value
        self._model.vis.headlight.diffuse[:], self._model.vis.headlight.ambient[:] = self._headlight
        self._renderer.added = []

    def relight(self, rng: np.random.Generator) -> None:
        """Tint the materials, with a probability of 0.7, and change direction, colour and strength of the lights."""
        self.plain()
        model = self._model
        if rng.random() < 0.7:
            model.mat_rgba[:, :3] *= rng.uniform(0.6, 1.2, (len(model.mat_rgba), 3))
            np.clip(model.mat_rgba, 0.0, 1.0, out=model.mat_rgba)
        strength, tint = rng.uniform(0.5, 1.3), rng.uniform(0.85, 1.1, 3)
        model.light_diffuse[:] = np.clip(model.light_diffuse * strength * tint, 0.0, 1.5)
        model.light_dir[:] += rng.normal(0.0, 0.25, model.light_dir.shape)
        model.vis.headlight.diffuse[:] = self._headlight[0] * rng.uniform(0.6, 1.3)
        model.vis.headlight.ambient[:] = self._headlight[1] * rng.uniform(0.6, 1.4) + rng.uniform(0.0, 0.1)
