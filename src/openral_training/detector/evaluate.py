"""Evaluation of a detector on states that training never saw, through the locator that deployments use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openral_core.errors import NotFoundError, PolicyError, WeightsError
from openral_core.statistics import wilson_interval
from openral_perception.detection import ObjectDetector
from openral_perception.detectors.factory import load_detector
from openral_perception.geometry import NotLocatedError
from openral_perception.locator import CameraView, Locator
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import provenance
from openral_training.checkpoint import refuse_trained_states
from openral_training.detector.domain_randomization import Looks
from openral_training.detector.pictures import LEAST_PIXELS, LabelledPicture, take
from openral_training.detector.recipe import DetectorRecipe
from openral_training.detector.world import SeenWorld

NEAR_CM = 5.0
"""[cm] distance from the true position up to which a thing counts as found."""
LOOKS = ("plain", "random", "removed")
"""The scene as it is; with random colours, lights and added shapes; and as it is without its things.

A detector that finds a thing in the last one has learnt where it usually is, and not what it looks like."""


@dataclass(frozen=True)
class DetectorPlan:
    """What is evaluated, and on what."""

    package: RSkillPackage
    """Skill of kind detector."""
    recipe: DetectorRecipe
    """Its worlds and held-out states are used."""
    recipe_name: str
    """For the record."""
    states: int
    """Held-out initial states of each world."""
    seed: int = 1
    """Seed of the actions before each picture, of the camera's shift, and of random looks."""
    device: str = "cpu"
    """Where the detector runs."""

    @property
    def pictures(self) -> int:
        """How many pictures are evaluated."""
        return len(self.recipe.worlds) * self.states * len(LOOKS)


def evaluate(
    plan: DetectorPlan, command: str, progress: Callable[[int], None] = lambda pictures: None
) -> dict[str, Any]:
    """Ask for every label in pictures of held-out states, and return the content of the eval JSON.

    Raises:
        ContractError: the weights have seen some of the initial states.
        PolicyError: not a detector.
    """
    if plan.package.manifest.detector is None:
        raise PolicyError(f"{plan.package.manifest.name} is no detector")
    init_ids = list(plan.recipe.heldout_init_ids.ids()[: plan.states])
    _refuse_trained(plan.package, init_ids)
    detector = load_detector(plan.package, plan.device)
    rows: list[dict[str, Any]] = []
    try:
        for number, world_plan in enumerate(plan.recipe.worlds):
            rng = np.random.default_rng([plan.seed, number])
            with closing(SeenWorld(world_plan)) as world:
                looks = Looks(world.backend.renderer)
                for init_id in init_ids:
                    world.begin(init_id, rng, plan.recipe.camera_shift_m)
                    for look in LOOKS:
                        hidden = tuple(world_plan.things) if look == "removed" else ()
                        random = rng if look == "random" else None
                        seen = take(world, looks, plan.recipe.labels, random, hidden)
                        where = {
                            "scene": world_plan.task or world_plan.scene,
                            "init_id": init_id,
                            "look": look,
                        }
                        asked = hidden or plan.recipe.labels
                        rows += [{**where, **row} for row in ask(detector, seen, plan.recipe, asked)]
                        progress(1)
    finally:
        detector.close()
    return {**_source(plan, init_ids, command), "results": {**measures(rows), "rollouts": rows}}


def ask(
    detector: ObjectDetector, seen: LabelledPicture, recipe: DetectorRecipe, labels: Sequence[str]
) -> list[dict[str, Any]]:
    """Locate each label by words in one picture, and return a row for each: the answer, and its error.

    Where several things have a label, the nearest one counts. A label with a thing of which only a few pixels are
    visible is left out, since it is neither clearly there nor clearly absent.
    """
    locator = Locator(detector)
    view = CameraView("camera", 0.0, 0.0, seen.image, seen.depth, seen.camera)
    least = LEAST_PIXELS * (seen.image.shape[0] / recipe.image_size) ** 2
    rows = []
    for label in labels:
        true = [thing for thing in seen.things if thing.label == label]
        if any(thing.pixels < least for thing in true):
            continue
        row: dict[str, Any] = {"label": label, "there": bool(true)}
        try:
            answer = locator.by_words(view, f"the {label}")
        except NotLocatedError:
            rows.append({**row, "answered": False})
            continue
        row |= {"answered": True, "confidence": round(answer.confidence, 3)}
        if true:
            errors = [np.linalg.norm(answer.point.position - thing.position) for thing in true]
            row["error_cm"] = round(100.0 * float(min(errors)), 2)
            sigma = np.sqrt(np.trace(answer.point.covariance))
            row["sigma_cm"] = round(100.0 * float(sigma), 2)
        rows.append(row)
    return rows


def measures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarise rows of `ask` by look, and within a look by label and by scene."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["look"]].append(row)
    return {
        "near_cm": NEAR_CM,
        "by_look": {
            look: {**_summary(found), "by_label": _by(found, "label"), "by_scene": _by(found, "scene")}
            for look, found in groups.items()
        },
    }


def _by(rows: list[dict[str, Any]], key: str) -> dict[str, Any]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return {name: _summary(found) for name, found in groups.items()}


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return found rate, errors of what was answered [cm], and finds of what is not there."""
    there, absent = [row for row in rows if row["there"]], [row for row in rows if not row["there"]]
    errors = [row["error_cm"] for row in there if row["answered"]]
    found = sum(error <= NEAR_CM for error in errors)
    false = sum(row["answered"] for row in absent)
    summary: dict[str, Any] = {"n": len(there), "answered": len(errors), "found": found}
    if there:
        summary["found_interval"] = [round(bound, 3) for bound in wilson_interval(found, len(there))]
    if errors:
        median, tail = np.quantile(errors, [0.5, 0.9])
        summary |= {"median_cm": round(float(median), 2), "p90_cm": round(float(tail), 2)}
    summary |= {"n_absent": len(absent), "false_finds": false}
    if absent:
        summary["false_interval"] = [round(bound, 3) for bound in wilson_interval(false, len(absent))]
    return summary


def _refuse_trained(package: RSkillPackage, init_ids: list[int]) -> None:
    try:
        path: Path = package.weights_path()
    except (NotFoundError, WeightsError):  # the weights are not a single file, so there is no header
        return
    refuse_trained_states(path, init_ids)


def _source(plan: DetectorPlan, init_ids: list[int], command: str) -> dict[str, Any]:
    """Return the keys of an eval JSON that precede its results."""
    trained = plan.recipe.train_init_ids
    scenes = [world.open_scene() for world in plan.recipe.worlds]
    return {
        "schema_version": "0.1",
        "source": {"evaluated_by": "openral", "reproduced_locally": True, "status": "reproduced"},
        "benchmark": {
            "name": plan.recipe_name,
            "simulator": " and ".join(
                sorted({str(scene.scene.backend_options["family"]) for scene in scenes})
            ),
            "robot": " and ".join(sorted({scene.robot_id for scene in scenes})),
            "protocol": "initial states that training never saw, after a random part of a task; each label is asked "
            f"for by words; found: within {NEAR_CM:g} cm of the simulator's position; depth is the simulator's",
            "deviations": f"cameras shifted by up to {100 * plan.recipe.camera_shift_m:g} cm; looks: the scene's own, "
            "and random colours, lights and shapes",
        },
        "eval_config": {
            "init_ids": [init_ids[0], init_ids[-1]],
            "trained_on_init_ids": [trained.first, trained.first + trained.count - 1],
            "seed": plan.seed,
            "states": plan.states,
        },
        "provenance": provenance(plan.package, command),
    }
