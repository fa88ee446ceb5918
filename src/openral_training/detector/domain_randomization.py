"""Random looks of a world: colours of things, tints of everything else, lights, and added shapes."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.rendering.renderer import AddedShape
from openral_training.detector.recipe import DetectorWorld
from openral_training.detector.world import TruePlace
from openral_training.relight import Relighting

CUBE = "cube"
"""Label of added boxes with equal sides."""
APART_M = 0.07
"""[m] least horizontal distance between the centres of added shapes and things."""
Rgb = tuple[float, float, float]


class Looks(Relighting):
    """Changes lights, tints and colours of a world, and adds shapes to it."""

    def hide(self, place: TruePlace) -> None:
        """Do not draw a thing, until the next look."""
        self._model.geom_matid[list(place.geoms)] = -1
        self._model.geom_rgba[list(place.geoms), 3] = 0.0

    def shuffle(
        self,
        plan: DetectorWorld,
        places: Sequence[TruePlace],
        labels: Sequence[str],
        rng: np.random.Generator,
    ) -> dict[tuple[int, ...], Rgb]:
        """Choose a new look at random; return the colour of each thing that was painted, by its geoms."""
        self.relight(rng)
        model = self._model
        painted: dict[tuple[int, ...], Rgb] = {}
        for place in places:
            if rng.random() < 0.4:
                rgb = random_rgb(rng)
                painted[place.geoms] = rgb
                model.geom_rgba[list(place.geoms)] = (*rgb, 1.0)
                model.geom_matid[list(place.geoms)] = -1
        self._renderer.added = added_shapes(plan, places, cubes=CUBE in labels, rng=rng)
        return painted


def random_rgb(rng: np.random.Generator) -> Rgb:
    """Return a random colour (r, g, b) in 0..1: mostly a saturated one, with a probability of 0.15 a grey."""
    if rng.random() < 0.15:
        value = rng.uniform(0.02, 1.0)
        return value, value, value
    red, green, blue = colorsys.hsv_to_rgb(rng.random(), rng.uniform(0.5, 1.0), rng.uniform(0.3, 1.0))
    return red, green, blue


def added_shapes(
    plan: DetectorWorld, places: Sequence[TruePlace], *, cubes: bool, rng: np.random.Generator
) -> list[AddedShape]:
    """Return up to five random shapes that stand on the table, away from the things; with `cubes` some are cubes."""
    (x, y), (half_x, half_y, _) = plan.centre, plan.free
    taken, shapes = [place.position[:2] for place in places], []
    for _ in range(int(rng.integers(0, 6))):
        at = np.array([rng.uniform(x - half_x, x + half_x), rng.uniform(y - half_y, y + half_y)])
        if any(np.linalg.norm(at - other) < APART_M for other in taken):
            continue
        taken.append(at)
        shapes.append(_shape(at, plan.top_m, rng, cube=cubes and rng.random() < 0.45))
    return shapes


def is_cube(shape: AddedShape) -> bool:
    """Return whether an added shape is a cube, which then has the label CUBE."""
    return shape.kind == "box" and len(set(shape.size)) == 1


def _shape(at: NDArray[np.float64], top_m: float, rng: np.random.Generator, *, cube: bool) -> AddedShape:
    yaw = rng.uniform(-np.pi, np.pi)
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    a = float(rng.uniform(0.012, 0.03))
    if cube:
        a = float(rng.uniform(0.016, 0.028))
        kind, size, height = "box", (a, a, a), a
    else:
        tall = float(rng.uniform(0.04, 0.08))
        kind, size, height = [
            ("sphere", (a, a, a), a),
            ("box", (a, 2.2 * a, 0.4 * a), 0.4 * a),
            ("box", (0.6 * a, 0.6 * a, tall), tall),
            ("cylinder", (0.5 * a, tall, 0.0), tall),
            ("capsule", (0.5 * a, tall, 0.0), tall + 0.5 * a),
            ("ellipsoid", (1.6 * a, a, 0.5 * a), 0.5 * a),
        ][int(rng.integers(0, 6))]
    rgba = (*random_rgb(rng), 1.0)
    return AddedShape(kind, size, np.array([*at, top_m + height]), turn, rgba)  # type: ignore[arg-type]
