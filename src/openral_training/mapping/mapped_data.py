"""Applies a recipe to a dataset: returns the data of behaviour cloning, and writes the manifest of the skill."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from openral_core.errors import DatasetError
from openral_core.files.atomic import write_atomically
from openral_core.manifest import MANIFEST_NAME, ImagePreprocessing, RSkillManifest, StartPose
from openral_data.lerobot_v3 import Dataset
from openral_policy_nodes.families.mini.network import MiniConfig
from openral_training.cloning.data import FINE, CloningData, Demonstrations
from openral_training.demonstrated_starts import hands_of, start_poses
from openral_training.mapping.dataset_recipe import SkillRecipe
from openral_training.mapping.meta_checks import form_faults
from openral_training.mapping.row_checks import row_faults
from openral_training.mapping.vectors import chunks, kept_episodes, usable_spans, vectors
from openral_training.mapping.video_checks import video_faults


def require_fit(dataset: Dataset, recipe: SkillRecipe) -> None:
    """Check that a dataset fits a recipe, before images are decoded.

    Raises:
        DatasetError: they do not fit; one line per mismatch, each with its location and its fix.
    """
    faults = list(form_faults(dataset, recipe))
    if not faults:
        faults = [*row_faults(dataset, recipe), *video_faults(dataset, recipe)]
    if faults:
        raise DatasetError("\n".join(faults))


def mapped_data(dataset: Dataset, recipe: SkillRecipe) -> CloningData:
    """Return the data of behaviour cloning: the frames that the recipe selects.

    Raises:
        DatasetError: dataset and recipe do not fit, see `require_fit`.
    """
    require_fit(dataset, recipe)
    manifest = skill_manifest(dataset, recipe)
    state = vectors(dataset, recipe.state)
    action = vectors(dataset, recipe.action).reshape(len(dataset), recipe.action_steps, -1)
    chunk, ahead = chunks(action, usable_spans(dataset, recipe), manifest.chunk_size)
    frames = np.flatnonzero(ahead)
    tasks = dataset.columns(["task_index"])["task_index"]
    used = np.unique(tasks[frames])
    said = dataset.sentences()
    sentences = tuple((said[task], *recipe.words.get(said[task], ())) for task in used.tolist())
    demonstrations = Demonstrations(
        frames,
        state,
        chunk,
        ahead,
        np.zeros((len(dataset), 0), np.float32),
        np.searchsorted(used, tasks).astype(np.int64),
    )
    preprocessing = manifest.image_preprocessing or ImagePreprocessing()
    keys = [s.vla_feature_key for s in manifest.sensors_required if s.vla_feature_key in recipe.cameras]
    representation = manifest.action_contract.representation if manifest.action_contract else None
    commands = str(representation).startswith("delta_") and np.abs(action[frames]).max() <= 1.0
    model = MiniConfig(
        cameras=tuple(preprocessing.input_name(str(key)) for key in keys),
        image_size=_image_size(preprocessing),
        state_dim=state.shape[1],
        action_dim=action.shape[2],
        chunk_size=manifest.chunk_size,
        fine=FINE,
        scaled=not commands,
    )
    views = tuple(recipe.cameras[str(key)] for key in keys)
    return CloningData(model, demonstrations, views, sentences, np.ones(len(used)))


def skill_manifest(dataset: Dataset, recipe: SkillRecipe) -> RSkillManifest:
    """Return the recipe's manifest with the rate of the recorded actions and the size of the network's images."""
    manifest = recipe.manifest
    action, images = manifest.action_contract, manifest.image_preprocessing or ImagePreprocessing()
    assert action is not None
    size = _image_size(images)
    filled = {
        "action_contract": action.model_copy(
            update={"control_hz": float(dataset.info["fps"]) * recipe.action_steps}
        ),
        "image_preprocessing": images.model_copy(update={"image_size": (size, size)}),
    }
    return manifest.model_copy(update=filled)


def recorded_starts(dataset: Dataset, recipe: SkillRecipe) -> tuple[StartPose, ...]:
    """Return the start poses of the hand, or those of the manifest if it has some.

    They are measured in the first frames of the episodes that are trained on.

    There is one for each task if the sentences of all episodes are those of tasks in the manifest, else one for all.
    Without a state layout that begins with the hand's position none is returned.
    """
    contract = recipe.manifest.state_contract
    hands = hands_of(vectors(dataset, recipe.state), contract.layout if contract else None)
    if hands is None or recipe.manifest.start_poses:
        return recipe.manifest.start_poses
    first = [begin for _, begin, end in kept_episodes(dataset, recipe) if end > begin]
    said = [dataset.sentences()[task] for task in dataset.columns(["task_index"])["task_index"][first]]
    named = {words: each.task for each in recipe.manifest.examples for words in (each.task, *each.phrases)}
    rows: dict[str, list[int]] = {}
    for row, words in zip(first, said, strict=True):
        rows.setdefault(named.get(words, ""), []).append(row)
    if "" in rows:  # a sentence belongs to no task of the manifest, so all episodes share one entry
        rows = {"": first}
    return start_poses({task: hands[found] for task, found in rows.items()})


def write_manifest(folder: Path, dataset: Dataset, recipe: SkillRecipe) -> None:
    """Write `rskill.yaml` beside the weights."""
    manifest = skill_manifest(dataset, recipe)
    starts = recorded_starts(dataset, recipe)
    if starts:
        manifest = manifest.model_copy(update={"start_poses": starts})
    content = manifest.model_dump(mode="json", exclude_unset=True)
    episodes = len(kept_episodes(dataset, recipe))
    name = dataset.root.resolve().name
    head = f"# Trained by `openral train bc` on {episodes} episodes of the LeRobot dataset {name}.\n"
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
    write_atomically(folder / MANIFEST_NAME, head + text)


def _image_size(preprocessing: ImagePreprocessing) -> int:
    """Return width and height [px] of the square input images of the network."""
    return preprocessing.image_size[0] if preprocessing.image_size else MiniConfig.image_size
