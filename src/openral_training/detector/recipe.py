"""Recipe of a small detector: worlds, the things in them that it detects, and the words for these."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from openral_core.errors import NotFoundError
from openral_core.files.share import share_directory
from openral_core.files.yaml_document import read_document
from openral_core.scene import BenchmarkScene, DeployScene, load_scene
from openral_core.schema import (
    Count,
    Fault,
    InitRange,
    Many,
    Schema,
    Vector3,
    Word,
    raise_faults,
    validate,
)
from openral_core.suite import with_task
from openral_training.training_recipe import recipe_file


class ModelThing(Schema):
    """A thing of a world, by its names in the MuJoCo model."""

    geoms: Many[Word] = ()
    """Geoms that show it."""
    bodies: Many[Word] = ()
    """Bodies all of whose geoms show it."""
    at: Word | None = None
    """Body or geom whose position is the thing's; absent: the object's position in MetaWorld's observation."""
    offset: Vector3 = (0.0, 0.0, 0.0)
    """[m] in the world frame, from there to the position to be found, such as from a bin's bottom to its rim."""

    @model_validator(mode="after")
    def _is_shown(self) -> ModelThing:
        if not self.geoms and not self.bodies:
            raise_faults([Fault("geoms", "are missing, and so are bodies", "name what shows the thing")])
        return self


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, dict) else value


Things = Annotated[Many[ModelThing], BeforeValidator(_several), Field(min_length=1)]
"""One thing, or a list of them."""


class ColourMarker(Schema):
    """A small round spot of pure red, green or blue, which is found by its colour without training."""

    colours: Many[Literal["red", "green", "blue"]] = Field(min_length=1)
    """Colours that the marker may have."""
    inward_m: Annotated[float, Field(ge=0, le=0.2)]
    """[m] from its visible surface to its position, along the ray."""


class DetectorWorld(Schema):
    """A scene, seen by one camera."""

    scene: Word
    """Name of a scene."""
    task: Word | None = None
    """Task of a benchmark scene; absent: the scene as it is, in its first task."""
    camera: Word
    """Name of the camera that renders the images."""
    things: dict[Word, Things]
    """Label -> what it is there; a list where there are several."""
    free: Vector3
    """[m] half width along x, half width along y, and height of the space in which things are added and moved."""
    centre: tuple[float, float] = Field(strict=False)
    """[m] x and y of the centre of that space."""
    top_m: Annotated[float, Field(ge=-10, le=10)] = 0.0
    """[m] z of the table top, the floor of that space."""

    def open_scene(self) -> DeployScene:
        """Return the scene, with its task."""
        if self.task is None:
            return load_scene(self.scene)
        found = load_scene(self.scene, BenchmarkScene)
        return with_task(found, f"{found.scene.backend_options['family']}/{self.task}", "look")


class DetectorRecipe(Schema):
    """What a detector is trained and evaluated on."""

    train_init_ids: InitRange
    """Initial states of the training pictures."""
    heldout_init_ids: InitRange
    """Initial states that are used for evaluation alone."""
    labels: Many[Word] = Field(min_length=1)
    """Names of the things to find, in the order of the heat maps."""
    synonyms: dict[Word, Many[Word]] = Field(default_factory=dict)
    """Label -> other words for it."""
    markers: dict[Word, ColourMarker] = Field(default_factory=dict)
    """Label -> its colours; these labels are not among `labels`."""
    image_size: Count = 128
    """[px] side of the network's input."""
    camera_shift_m: Annotated[float, Field(ge=0, le=0.2)] = 0.03
    """[m] by which the camera is moved at most along each axis."""
    worlds: Many[DetectorWorld] = Field(min_length=1)
    """Worlds of the pictures, equally many of each."""

    @model_validator(mode="after")
    def _fits_together(self) -> DetectorRecipe:
        faults, seen, judged = [], self.train_init_ids, self.heldout_init_ids
        if seen.overlaps(judged):
            what = f"{judged} overlap train_init_ids {seen}"
            faults.append(
                Fault("heldout_init_ids", what, "a state seen in training proves nothing; move one")
            )
        if len(set(self.labels)) < len(self.labels):
            faults.append(Fault("labels", "name a thing twice", "remove one of them"))
        faults += [
            Fault(f"worlds.{number}.things.{label}", "is none of labels", "add it there, or remove it here")
            for number, world in enumerate(self.worlds)
            for label in world.things
            if label not in self.labels
        ]
        faults += [
            Fault(f"markers.{label}", "is one of labels, which are trained", "remove one of them")
            for label in self.markers
            if label in self.labels
        ]
        if self.image_size % 16:
            faults.append(Fault("image_size", f"is {self.image_size}, no multiple of 16", "write 128"))
        raise_faults(faults)
        return self

    def require_scenes(self) -> None:
        """Check that scenes that are files of their own exist, as `openral robot world` writes them.

        Raises:
            NotFoundError: one is missing; the text has the command that makes it, in all states of the recipe.
        """
        states = max(self.train_init_ids.ids().stop, self.heldout_init_ids.ids().stop)
        for world in self.worlds:
            path = Path(world.scene)
            if path.suffix and not path.is_file() and not (share_directory() / path).is_file():
                raise NotFoundError(
                    f"the recipe's scene {path} is not there, in {Path.cwd()}; where it is a world of a scene that "
                    f"openral ships, make it: openral robot world {path.stem} --first 0 --count {states} --out "
                    f"{path.parent}"
                )


def load_detector_recipe(ref: str | Path) -> DetectorRecipe:
    """Load a recipe by path, or by the name of one that openral ships.

    Raises:
        NotFoundError: neither exists, or a scene of it is missing.
        ManifestError: the file is invalid; the text names the key.
    """
    recipe = validate(DetectorRecipe, read_document(recipe_file(ref, of_detector=True)))
    recipe.require_scenes()
    return recipe
