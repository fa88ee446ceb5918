"""Training pictures of a detector: rendered, labelled by the simulator, and written to one file."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import cv2
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_core.files.atomic import replaced_file
from openral_perception.colours import COLOURS, colour_name
from openral_perception.geometry import PinholeCamera
from openral_sim_bridge.rendering.renderer import ADDED
from openral_training.checkpoint import identity
from openral_training.detector.domain_randomization import CUBE, Looks, Rgb, is_cube
from openral_training.detector.recipe import DetectorRecipe
from openral_training.detector.world import SeenWorld, TruePlace

LEAST_PIXELS = 8
"""[px] at the network's size: a thing of fewer visible pixels is neither to be found nor absent."""
LOOKS_A_STATE = 5
"""Pictures of each state that the world is brought into."""
WHOLE, REMOVED = 2, 0.8
"""Index of the last of these pictures with all things in it; share of the things that later ones lack."""


@dataclass(frozen=True)
class ThingSeen:
    """A thing in a picture."""

    label: str
    """Of the recipe."""
    u: float
    """[px] column in the world's picture of its visible pixel nearest to the projection of its position."""
    v: float
    """[px] row of that pixel."""
    half_width: float
    """[px] of the box around its visible pixels."""
    half_height: float
    """[px]"""
    pixels: int
    """Visible pixels, of the world's picture."""
    colour: int
    """Number in COLOURS."""
    inward_m: float
    """[m] from its visible surface to its position, along the ray."""
    position: NDArray[np.float64]
    """(3,) [m] true position."""


@dataclass(frozen=True)
class LabelledPicture:
    """A rendered picture of a world, with its labels."""

    image: NDArray[np.uint8]
    """(H, W, 3)"""
    depth: NDArray[np.float32]
    """(H, W) [m]"""
    camera: PinholeCamera
    """Its camera."""
    things: tuple[ThingSeen, ...]
    """Visible things, also those of few pixels."""


def take(
    world: SeenWorld,
    looks: Looks,
    labels: Sequence[str],
    rng: np.random.Generator | None,
    hidden: Collection[str] = (),
) -> LabelledPicture:
    """Render and label the current state of a world.

    Args:
        world: in some state.
        looks: of the world's renderer.
        labels: of the recipe.
        rng: draws a random look; None: the scene as it is.
        hidden: labels of things that are not drawn.
    """
    places, name = world.places(), world.plan.camera
    looks.plain()
    painted = looks.shuffle(world.plan, places, labels, rng) if rng is not None else {}
    for place in places:
        if place.label in hidden:
            looks.hide(place)
    places = [place for place in places if place.label not in hidden]
    backend = world.backend
    image, depth, shown = (
        draw([name])[name][0] for draw in (backend.render, backend.render_depth, backend.render_geoms)
    )
    camera = world.camera
    things = [_seen(place, image, depth, shown, camera, painted.get(place.geoms)) for place in places]
    for index, shape in enumerate(backend.renderer.added):
        if is_cube(shape):
            place = TruePlace(CUBE, shape.position, (ADDED + index,))
            things.append(_seen(place, image, depth, shown, camera, shape.rgba[:3]))
    return LabelledPicture(image, depth, camera, tuple(thing for thing in things if thing is not None))


def draw_all(
    recipe: DetectorRecipe, pictures: int, out: Path, seed: int, progress: Callable[[int], None]
) -> None:
    """Render the training pictures, equally many of each world, and write them to `out` (.npz).

    The file has `images` (n, S, S, 3) uint8 and `things` (m, 9) float32: number of the picture, of the label, u, v,
    half width, half height [px at S], visible pixels at S, number of the colour, inward [m]. `made_of` tells them from
    the pictures of other arguments, see `are_drawn`.

    Raises:
        ContractError: nothing of the recipe is to be seen in any of them.
    """
    images: list[NDArray[Any]] = []
    rows: list[list[float]] = []
    each = -(-pictures // (len(recipe.worlds) * LOOKS_A_STATE))
    for number, plan in enumerate(recipe.worlds):
        rng = np.random.default_rng([seed, number])
        with closing(SeenWorld(plan)) as world:
            looks = Looks(world.backend.renderer)
            for _ in range(each):
                init_id = recipe.train_init_ids.ids()[rng.integers(recipe.train_init_ids.count)]
                world.begin(init_id, rng, recipe.camera_shift_m)
                for look in range(LOOKS_A_STATE):
                    random = rng if look % 3 or rng.random() < 0.5 else None
                    hidden = [label for label in plan.things if look > WHOLE and rng.random() < REMOVED]
                    taken = take(world, looks, recipe.labels, random, hidden)
                    rows += [_row(len(images), thing, taken, recipe) for thing in taken.things]
                    side = recipe.image_size
                    images.append(cv2.resize(taken.image, (side, side), interpolation=cv2.INTER_AREA))
                    progress(1)
    if not rows:
        raise ContractError(
            f"none of the recipe's things is to be seen in any of {len(images)} pictures; look at camera, geoms and "
            "bodies of its worlds"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with replaced_file(out) as partial, partial.open("wb") as file:
        np.savez_compressed(
            file,
            images=np.stack(images),
            things=np.array(rows, np.float32),
            made_of=np.array(_made_of(recipe, pictures, seed)),
        )


def are_drawn(path: Path, recipe: DetectorRecipe, pictures: int, seed: int) -> bool:
    """Return whether `path` has the pictures that `draw_all` writes for these arguments; a damaged file has none."""
    if not path.is_file():
        return False
    try:
        with np.load(path, allow_pickle=False) as stored:
            return "made_of" in stored and str(stored["made_of"]) == _made_of(recipe, pictures, seed)
    except (ValueError, EOFError, TypeError, AttributeError, BadZipFile, zlib.error):
        return False


def _made_of(recipe: DetectorRecipe, pictures: int, seed: int) -> str:
    return identity(recipe.model_dump_json(), pictures, seed)


def _row(picture: int, thing: ThingSeen, taken: LabelledPicture, recipe: DetectorRecipe) -> list[float]:
    height, width = taken.image.shape[:2]
    across, down = recipe.image_size / width, recipe.image_size / height
    return [
        picture,
        recipe.labels.index(thing.label),
        thing.u * across,
        thing.v * down,
        thing.half_width * across,
        thing.half_height * down,
        thing.pixels * across * down,
        thing.colour,
        thing.inward_m,
    ]


def _seen(
    place: TruePlace,
    image: NDArray[np.uint8],
    depth: NDArray[np.float32],
    shown: NDArray[np.int32],
    camera: PinholeCamera,
    rgb: Rgb | None,
) -> ThingSeen | None:
    """Return the label of a thing, from its visible pixels; None: it is not visible."""
    rows, columns = np.nonzero(np.isin(shown, place.geoms))
    if not rows.size:
        return None
    u, v, _ = camera.project(place.position)
    nearest = int(np.argmin((columns + 0.5 - u) ** 2 + (rows + 0.5 - v) ** 2))
    row, column = int(rows[nearest]), int(columns[nearest])
    if rgb is None:
        mean = image[rows, columns].mean(axis=0) / 255.0
        rgb = (float(mean[0]), float(mean[1]), float(mean[2]))
    surface = camera.unproject(column + 0.5, row + 0.5, float(depth[row, column]))
    ray = surface - camera.position
    # If the position is projected into that very pixel, the projection is more exact than the pixel's centre.
    inside = int(np.floor(u)) == column and int(np.floor(v)) == row
    return ThingSeen(
        label=place.label,
        u=u if inside else column + 0.5,
        v=v if inside else row + 0.5,
        half_width=(np.ptp(columns) + 1) / 2,
        half_height=(np.ptp(rows) + 1) / 2,
        pixels=rows.size,
        colour=COLOURS.index(colour_name(rgb)),
        inward_m=float((place.position - surface) @ ray / np.linalg.norm(ray)),
        position=place.position,
    )
