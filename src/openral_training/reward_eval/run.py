"""Runs an evaluation or a calibration: rollouts, scores, measures, and their provenance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from openral_core.errors import ContractError, ManifestError, NotFoundError, PolicyError, WeightsError
from openral_core.files.atomic import write_atomically
from openral_core.manifest.kind_sections import Reward
from openral_reward_monitor.camera_views import cameras_of
from openral_reward_monitor.models.calibration import (
    FILE_NAME,
    Calibration,
    CameraCalibration,
    load_calibration,
)
from openral_reward_monitor.models.reward_model import RewardModel, load_reward_model
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import provenance
from openral_rskill.weights_hash import weights_sha256
from openral_training.appearance_shift import CAMERA_OFF_M, View
from openral_training.checkpoint import refuse_trained_states
from openral_training.reward_eval.cases import Scored, cases, score
from openral_training.reward_eval.fit import fit
from openral_training.reward_eval.measures import decision, measures
from openral_training.reward_eval.rollouts import FRAMES_PER_S, filmed, planned, rollouts
from openral_training.training_recipe import Recipe

LATENCY_FRAMES = 8
"""Frames of one call of the model, as in the monitor."""
LATENCY_CALLS = 30
VIEWS = {
    View.plain: "",
    View.other_look: ", in other lights and tints, drawn anew for each film",
    View.moved_camera: f", the camera {100 * CAMERA_OFF_M:g} cm off in a direction drawn for each film",
}
"""Description of each view in the result."""


@dataclass(frozen=True)
class EvaluationPlan:
    """What is evaluated, and on what."""

    package: RSkillPackage
    recipe: Recipe
    recipe_name: str
    camera: str
    """Name of the camera whose images are scored, or of several together (`openral_reward_monitor.camera_views`)."""
    init_ids: tuple[int, ...]
    heard: bool
    """Whether instructions are the sentences of training; else they are the held-out ones."""
    seed: int = 1
    device: str = "cpu"
    workers: int = 1
    skills: tuple[Path, ...] = ()
    """Folders of skills whose attempts are evaluated as well."""
    view: View = View.plain
    """Appearance of the worlds."""

    @property
    def films(self) -> int:
        """Number of rollouts."""
        return len(planned(self.recipe, self.init_ids, self.skills, self.view))

    @property
    def words(self) -> dict[str, list[str]]:
        """The sentences of each task."""
        tasks = self.recipe.tasks.items()
        return {name: words.train if self.heard else words.heldout for name, words in tasks}


def evaluate(
    plan: EvaluationPlan, command: str, progress: Callable[[int], None] = lambda films: None
) -> dict[str, Any]:
    """Evaluate a reward model on rollouts from states that nothing was fitted on.

    Args:
        plan: what is evaluated, and on what.
        command: the command line, for the record.
        progress: called with the number of rollouts that have become ready.

    Returns:
        The content of the eval JSON.

    Raises:
        ContractError: the weights were trained, or the calibration fitted, on some of the initial states.
        PolicyError: the skill is of another kind, or its model failed.
    """
    reward = _reward_of(plan)
    calibration = _calibration(plan)
    refuse_trained(plan)
    model = load_reward_model(plan.package, plan.device)
    try:
        scored = _score_all(plan, model, progress)
        latency = _latency(model, scored)
    finally:
        model.close()
    threshold = reward.success_threshold
    results = measures(scored, threshold, calibration)
    return {
        **_source(plan, command),
        "results": {
            **results,
            "latency": latency,
            "rollouts": [_row(one, decision(float(one.joint[-1]), calibration, threshold)) for one in scored],
        },
    }


def calibrate(
    plan: EvaluationPlan, error_rate: float, progress: Callable[[int], None] = lambda films: None
) -> tuple[CameraCalibration, dict[str, Any]]:
    """Fit the calibration of one camera and write it beside the manifest; other cameras' entries stay.

    Args:
        plan: what is calibrated, and on what.
        error_rate: see `CameraCalibration.error_rate`.
        progress: called with the number of rollouts that have become ready.

    Returns:
        The calibration, and the measures on the rollouts that it was fitted on. They are no evidence of quality, but
        allow variants of a model to be compared without using the evaluation states.

    Raises:
        ContractError: too few rollouts for the error rate, or the weights were trained on some of the initial states.
        ManifestError: the skill has a calibration that cannot be read.
        PolicyError: the skill is of another kind, or its model failed.
    """
    reward = _reward_of(plan)
    refuse_trained(plan)
    path, weights = plan.package.folder / FILE_NAME, weights_sha256(plan.package)
    before = _former(path)  # before films are made, which may take an hour
    model = load_reward_model(plan.package, plan.device)
    try:
        scored = _score_all(plan, model, progress)
        latency = _latency(model, scored)
    finally:
        model.close()
    found = fit(scored, error_rate=error_rate, recipe=plan.recipe_name, init_ids=plan.init_ids)
    kept = before.cameras if before and before.weights_sha256 == weights else {}
    content = Calibration(
        skill=plan.package.manifest.name, weights_sha256=weights, cameras={**kept, plan.camera: found}
    )
    write(path, content)
    return found, {**measures(scored, reward.success_threshold, found), "latency": latency}


def _former(path: Path) -> Calibration | None:
    """Return the calibration that is there; None: there is none. Raises ManifestError: it cannot be read."""
    try:
        return Calibration.model_validate_json(path.read_bytes()) if path.is_file() else None
    except (ValidationError, OSError) as error:
        why = " ".join(str(error).split())[:200]
        raise ManifestError(
            f"{path}: cannot be read ({why}); copy it back, or remove it and calibrate all cameras anew"
        ) from error


def write(path: Path, calibration: Calibration) -> None:
    """Write a calibration atomically; a killed run leaves the old file or the new one."""
    write_atomically(path, calibration.model_dump_json(indent=1) + "\n")


def _reward_of(plan: EvaluationPlan) -> Reward:
    reward = plan.package.manifest.reward
    if reward is None:
        raise PolicyError(
            f"{plan.package.manifest.name} is no reward skill; judge it with openral benchmark run"
        )
    return reward


def _calibration(plan: EvaluationPlan) -> CameraCalibration | None:
    loaded = load_calibration(plan.package)
    if loaded is None:
        return None
    found = loaded.cameras.get(plan.camera)
    if found is None:
        known = ", ".join(loaded.cameras)
        raise ContractError(
            f"{plan.package.folder / FILE_NAME}: camera '{plan.camera}' is not calibrated, but {known}; "
            f"openral reward calibrate --rskill {plan.package.reference} --camera {plan.camera}"
        )
    shared = sorted(set(found.init_ids) & set(plan.init_ids))
    if shared and (not found.tasks or set(found.tasks) & set(plan.recipe.task_ids)):
        raise ContractError(
            f"{plan.package.folder / FILE_NAME}: init_ids: it was fitted on {len(shared)} of the states that it is "
            f"to be judged on ({shared[0]} …); fit it on others"
        )
    return found


def refuse_trained(plan: EvaluationPlan) -> None:
    """Raise ContractError if the weights were trained on a state of the plan, as far as their header tells."""
    try:
        path = plan.package.weights_path()
    except (NotFoundError, WeightsError):  # the weights are not a single file, so there is no header
        return
    refuse_trained_states(path, plan.init_ids, plan.recipe.task_ids)


def _score_all(plan: EvaluationPlan, model: RewardModel, progress: Callable[[int], None]) -> list[Scored]:
    recipe = filmed(plan.recipe)
    films = rollouts(
        plan.recipe,
        plan.init_ids,
        skills=plan.skills,
        view=plan.view,
        seed=plan.seed,
        workers=plan.workers,
        progress=progress,
    )
    return [score(model, case) for film in films for case in cases(film, recipe, plan.camera, plan.words)]


def _latency(model: RewardModel, scored: Sequence[Scored]) -> dict[str, Any]:
    """Measure the latency of calls of the model like those of the monitor."""
    case = max((one.case for one in scored), key=lambda case: len(case.images))
    frames = case.frames(np.linspace(0, len(case.images) - 1, LATENCY_FRAMES).round().astype(int).tolist())
    times = []
    for _ in range(LATENCY_CALLS):
        begun = time.perf_counter()
        model.score(frames, case.instruction)
        times.append(1e3 * (time.perf_counter() - begun))
    p50, p95 = np.percentile(times, [50, 95])
    return {"frames": LATENCY_FRAMES, "p50_ms": round(float(p50), 2), "p95_ms": round(float(p95), 2)}


def _row(one: Scored, said: str) -> dict[str, Any]:
    case = one.case
    return {
        "task": case.task,
        "acted": case.acted,
        "behaviour": case.behaviour,
        "init_id": case.init_id,
        "instruction": case.instruction,
        "truth": one.done,
        "said": said,
        "progress": round(float(one.scores.progress[-1]), 4),
        "success": round(float(one.scores.success[-1]), 4),
        "peak": round(float(one.joint.max()), 4),
    }


def _source(plan: EvaluationPlan, command: str) -> dict[str, Any]:
    """Return the keys of an eval JSON that precede its results."""
    scenes = [plan.recipe.scene_for(task_id) for task_id in plan.recipe.task_ids]
    scene = scenes[0]
    seen = [camera for camera in scene.cameras if camera.name in cameras_of(plan.camera)]
    looks = dict.fromkeys(str(one.scene.backend_options.get("render_profile", "fast")) for one in scenes)
    trained = plan.recipe.train_init_ids
    return {
        "schema_version": "0.1",
        "source": {"evaluated_by": "openral", "reproduced_locally": True, "status": "reproduced"},
        "benchmark": {
            "name": plan.recipe_name,
            "simulator": str(scene.scene.backend_options.get("family", scene.scene.backend)),
            "robot": scene.robot_id,
            "protocol": "initial states and words that nothing was fitted on; truth is the simulator's verdict on each "
            "frame; experts, disturbed ones, under wrong words, backwards; gestures replayed at other states, constant "
            "and random motion, half done, undone, parked and stopped",
            "deviations": f"render profile {' or '.join(looks)}, camera {plan.camera} at {seen[0].width} px, "
            f"{FRAMES_PER_S:g} frames/s{VIEWS[plan.view]}",
        },
        "eval_config": {
            "init_ids": [plan.init_ids[0], plan.init_ids[-1]],
            "trained_on_init_ids": [trained.first, trained.first + trained.count - 1],
            "seed": plan.seed,
            "camera": plan.camera,
            "success_key": "success",
        },
        "provenance": provenance(plan.package, command),
    }
