"""A training recipe: scenes and tasks, and the initial states and sentences of training and evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from openral_core.adapters.state_layout import HAND_LAYOUTS
from openral_core.errors import ManifestError, NotFoundError, nearest
from openral_core.files.yaml_document import Document, read_document
from openral_core.scene import BenchmarkScene, DeployScene, load_scene
from openral_core.schema import InitRange, validate
from openral_core.suite import with_task
from openral_data.dataset_schema import DatasetMetadata

_Scene = TypeVar("_Scene", bound=DeployScene)
MOST_LISTED = 1_000_000
"""Initial states up to which all of a range are put in an order, and most that are drawn of a longer one."""


def drawn_states(
    states: Sequence[int], count: int, rng: np.random.Generator, without: int | None = None
) -> list[int]:
    """Draw initial states in random order, each at most once. The memory that it takes does not grow with the range.

    Args:
        states: to draw from, such as a range.
        count: most that are drawn, at most MOST_LISTED.
        rng: makes the choices.
        without: state that is never drawn; None: any may be.
    """
    if len(states) <= MOST_LISTED:
        found = rng.permutation([state for state in states if state != without])[:count]
        return [int(state) for state in found]
    places = rng.choice(len(states), min(count, MOST_LISTED) + 1, replace=False)
    return [states[place] for place in places.tolist() if states[place] != without][:count]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskWords(_Strict):
    """The scene of a task, and the sentences for it."""

    scene: str | None = None
    """Name of a scene; tasks that name the same one share a world. None: the recipe's scene, a world of its own."""
    train: Annotated[list[str], Field(min_length=1)]
    """Sentences of training; the first one is the plain instruction."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """Relative weight with which frames of this task are drawn in behaviour cloning."""
    heldout: Annotated[list[str], Field(min_length=1)]
    """Sentences that are used for evaluation alone."""


class Recipe(_Strict):
    """The training and evaluation data of a small skill."""

    train_init_ids: InitRange
    heldout_init_ids: InitRange
    calibration_init_ids: InitRange | None = None
    """States that a reward model's calibration is fitted on; they are used neither in training nor in evaluation."""
    scene: str | None = None
    """Name of the scene of tasks that name none. Cameras, sizes and appearance are those of training and evaluation."""
    cameras: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Names of the cameras that are recorded; None: all that the scenes have, which are then the same in each.

    One that a task's own scene lacks is added to it as the recipe's scene has it."""
    state_layout: str = "ee_pos3_gripper1"
    """Layout of the proprioception, see `openral_core.adapters.state_layout`."""
    chunk_size: Annotated[int, Field(gt=0)] = 16
    """H, the number of the expert's next actions that are recorded with each frame."""
    proposals: Annotated[int, Field(ge=1, le=16)] = 1
    """K, chunks that a cloned policy proposes: more than one if experts act in several ways on the same observation."""
    record_every: Annotated[int, Field(gt=0)] = 1
    """Control steps from one recorded frame to the next; adjacent frames are similar, and rendering takes most time."""
    picture_delay_s: Annotated[float, Field(ge=0)] = 0.0
    """[s] greatest delay of the images of two thirds of the samples relative to their proprioception in behaviour
    cloning, drawn uniformly from 0: images of real cameras arrive later than joint states, by an unknown time. The
    attempts of a skill that experts correct are delayed by as much, see `expert_corrections`."""
    turn_noise: Annotated[float, Field(ge=0)] = 0.15
    """Standard deviation of the noise on the turns that a disturbed expert executes, in units of a command."""
    tasks: Annotated[dict[str, TaskWords], Field(min_length=1)]
    """Tasks by the simulator's id; their order is that of every column with one entry per task."""

    @model_validator(mode="after")
    def _check(self) -> Recipe:
        seen, judged = self.train_init_ids, self.heldout_init_ids
        if seen.overlaps(judged):
            raise ValueError(
                "heldout_init_ids: overlaps train_init_ids; a state seen in training proves nothing"
            )
        fitted = self.calibration_init_ids
        if fitted is not None and (fitted.overlaps(seen) or fitted.overlaps(judged)):
            raise ValueError(
                "calibration_init_ids: overlaps train_init_ids or heldout_init_ids; take states that nothing else uses"
            )
        if self.state_layout not in HAND_LAYOUTS:
            raise ValueError(f"state_layout: '{self.state_layout}' is none of {', '.join(HAND_LAYOUTS)}")
        for task, words in self.tasks.items():
            if words.scene is None and self.scene is None:
                raise ValueError(f"tasks.{task}.scene: is missing, and so is the recipe's scene; give one")
            shared = {s.lower() for s in words.train} & {s.lower() for s in words.heldout}
            if shared:
                raise ValueError(f"tasks.{task}.heldout: also in train: {', '.join(sorted(shared))}")
        return self

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The simulator's task ids."""
        return tuple(self.tasks)

    def require_tasks(self, tasks: Iterable[str]) -> None:
        """Raise NotFoundError if there is a task among these that the recipe lacks."""
        if unknown := sorted(set(tasks) - set(self.task_ids)):
            raise NotFoundError(f"the recipe has no task '{unknown[0]}'; it has {', '.join(self.task_ids)}")

    @property
    def worlds(self) -> tuple[tuple[str, ...], ...]:
        """The tasks of each world, in the order of the recipe."""
        return tuple(dict.fromkeys(self.world_of(task) for task in self.tasks))

    def world_of(self, task_id: str) -> tuple[str, ...]:
        """Return the tasks that share `task_id`'s world, itself included."""
        scene = self.tasks[task_id].scene
        if scene is None:
            return (task_id,)
        return tuple(task for task, words in self.tasks.items() if words.scene == scene)

    def scene_for(self, task_id: str) -> DeployScene:
        """Return the scene in which a task is done. Raises as `openral_core.scene.load_scene`."""
        words = self.tasks[task_id]
        if words.scene is not None:
            return self._seen(load_scene(words.scene))
        scene = self._seen(load_scene(self.scene or "", BenchmarkScene))
        return with_task(scene, f"{scene.scene.backend_options['family']}/{task_id}", words.train[0])

    def _seen(self, scene: _Scene) -> _Scene:
        """Return the scene with the recipe's cameras only."""
        if self.cameras is None:
            return scene
        known = {camera.name: camera for camera in scene.cameras}
        if self.scene is not None and not known.keys() >= set(self.cameras):
            known = {camera.name: camera for camera in load_scene(self.scene, BenchmarkScene).cameras} | known
        missing = sorted(set(self.cameras) - set(known))
        if missing:
            raise NotFoundError(f"cameras: the scene has no camera '{missing[0]}'; it has {', '.join(known)}")
        world = scene.scene.model_copy(update={"cameras": tuple(known[name] for name in self.cameras)})
        return scene.model_copy(update={"scene": world})


def recipe_file(ref: str | Path, *, of_detector: bool = False) -> Path:
    """Return the file of a recipe, by path or by the name of one that openral ships.

    Args:
        ref: what the user wrote.
        of_detector: whether the recipe is that of a detector; shipped ones have names that begin with `mini_detector`.

    Raises:
        NotFoundError: there is no such recipe; the text lists the shipped ones of this kind.
    """
    path, shipped = Path(ref), resources.files("openral_training") / "recipes"
    if not path.suffix:
        path = Path(str(shipped / f"{ref}.yaml"))
    if path.is_file():
        return path
    known = recipe_names(of_detector=of_detector)
    close = nearest(str(ref), known)
    meant = f", did you mean '{close}'" if close else ""
    raise NotFoundError(f"there is no recipe '{ref}'{meant}; openral ships {', '.join(known)}")


def recipe_names(*, of_detector: bool = False) -> list[str]:
    """Return the names of the recipes that openral ships, sorted: of detectors, or the others."""
    shipped = resources.files("openral_training") / "recipes"
    names = sorted(item.name.removesuffix(".yaml") for item in shipped.iterdir())
    return [name for name in names if name.startswith("mini_detector") is of_detector]


def load_recipe(ref: str | Path, words_for: tuple[Path, ...] = ()) -> Recipe:
    """Load a recipe by path, or by the name of one that openral ships.

    With `words_of: <another recipe>` in a file, tasks without sentences have those of the other recipe.

    Args:
        ref: path or name.
        words_for: recipes whose `words_of` leads here, which it must not lead back to.

    Raises:
        NotFoundError: neither exists.
        ManifestError: the file is invalid; the text names the key.
    """
    path = recipe_file(ref)
    document = read_document(path)
    if isinstance(document.data, dict):
        if "manifest" in document.data:
            raise ManifestError(f"{path}: maps a dataset to a skill, which `openral train bc` alone reads")
        document.data = _with_words(document, (*words_for, path.resolve()))
    return validate(Recipe, document)


def _with_words(document: Document, known: tuple[Path, ...]) -> dict[str, Any]:
    """Return a file's content, with the missing sentences from the recipe that `words_of` names, none of the known."""
    content: dict[str, Any] = document.data
    if "words_of" not in content:
        return content
    rest = {key: value for key, value in content.items() if key != "words_of"}
    given = content.get("tasks") or {}
    if not isinstance(content["words_of"], str):
        raise ManifestError(document.fault(("words_of",), "is no name", "name a recipe"))
    if not isinstance(given, dict) or not all(isinstance(own or {}, dict) for own in given.values()):
        return rest | {"tasks": given}
    if recipe_file(content["words_of"]).resolve() in known:
        raise ManifestError(
            document.fault(("words_of",), "leads back to this recipe", "name one with sentences of its own")
        )
    words = {
        name: {"train": found.train, "heldout": found.heldout}
        for name, found in load_recipe(content["words_of"], known).tasks.items()
    }
    return {**rest, "tasks": {name: {**words.get(name, {}), **(own or {})} for name, own in given.items()}}


def metadata_of(recipe: Recipe) -> DatasetMetadata:
    """Return the metadata that the demonstrations of a recipe have."""
    scene = recipe.scene_for(recipe.task_ids[0])
    cameras = {camera.feature_key or camera.name: (camera.height, camera.width) for camera in scene.cameras}
    words = {task_id: words.train[0] for task_id, words in recipe.tasks.items()}
    return DatasetMetadata(
        scene.control_hz / recipe.record_every,
        cameras,
        recipe.state_layout,
        scene.action.dim,
        recipe.chunk_size,
        words,
        scene.robot_id,
    )


def collection_settings(recipe: Recipe) -> dict[str, Any]:
    """Return what all demonstrations of a collection have in common, as values of JSON; raises as `metadata_of`."""
    return {
        **asdict(metadata_of(recipe)),
        "scenes": {task_id: words.scene or recipe.scene for task_id, words in recipe.tasks.items()},
        "turn_noise": recipe.turn_noise,
        "picture_delay_s": recipe.picture_delay_s,
    }
