"""Checks, from `meta/` alone, that a dataset has the features of a recipe in the right form; one line per mismatch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from openral_data.lerobot_meta import size_of
from openral_data.lerobot_v3 import Dataset
from openral_training.mapping.dataset_recipe import FeatureColumns, SkillRecipe
from openral_training.mapping.vectors import width

_NUMBERS = (
    *("float16", "float32", "float64", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


def form_faults(dataset: Dataset, recipe: SkillRecipe) -> Iterator[str]:
    """Yield the mismatches of cameras, state, action and rate with the features of the dataset."""
    manifest = recipe.manifest
    for key, name in recipe.cameras.items():
        yield from _camera_faults(dataset, recipe, key, name)
    state, action = manifest.state_contract, manifest.action_contract
    assert state is not None
    assert action is not None
    yield from _vector_faults(dataset, recipe, "state", recipe.state, "state_contract", recipe.state_dim)
    count = action.dim * recipe.action_steps
    yield from _vector_faults(dataset, recipe, "action", recipe.action, "action_contract", count)
    for key in ("only_where", "never_where"):
        yield from _mask_faults(dataset, recipe, key)
    fps = float(dataset.info["fps"])
    rate = fps * recipe.action_steps
    if action.control_hz is not None and abs(action.control_hz - rate) > 0.01 * rate:
        steps = f" with {recipe.action_steps} actions each" if recipe.action_steps > 1 else ""
        what = f"{action.control_hz:g}, but the dataset was recorded at {fps:g} frames a second{steps}"
        fix = f"write control_hz: {rate:g} (a chunk's actions are its frames'), or resample the dataset"
        yield recipe.fault(("manifest", "action_contract", "control_hz"), what, fix)


def _camera_faults(dataset: Dataset, recipe: SkillRecipe, key: str, name: str) -> Iterator[str]:
    features, place = dataset.info["features"], ("cameras", key)
    if name not in dataset.cameras:
        what = f"{name} is no camera" if name in features else f"the dataset has no feature {name}"
        yield recipe.fault(
            place, what, f"name one of {', '.join(dataset.cameras) or 'none: it has no camera'}"
        )
        return
    size = size_of(features[name])
    if size is None:
        what = f"{name} has shape {features[name].get('shape')} in meta/info.json"
        yield recipe.fault(place, what, "needed [height, width, 3]: correct it there, or name another camera")
        return
    if any("depth" in part and value is True for part, value in _details(features[name]).items()):
        yield recipe.fault(place, f"{name} is a depth map", "name a camera with colours")
    sensor = next(s for s in recipe.manifest.sensors_required if s.vla_feature_key == key)
    needed = sensor.min_height or 0, sensor.min_width or 0
    if size[0] < needed[0] or size[1] < needed[1]:
        what = f"{name} is {size[1]}x{size[0]} px, the manifest asks for {needed[1]}x{needed[0]}"
        yield recipe.fault(
            place, what, "lower min_width and min_height of sensors_required, or record larger"
        )


def _details(feature: dict[str, Any]) -> dict[str, Any]:
    """Return LeRobot's description of a video: `info`, or `video_info` in older versions."""
    found = feature.get("info") or feature.get("video_info") or {}
    return found if isinstance(found, dict) else {}


def _vector_faults(
    dataset: Dataset, recipe: SkillRecipe, key: str, parts: Sequence[FeatureColumns], contract: str, dim: int
) -> Iterator[str]:
    """Yield the mismatches of the parts of one vector, and of its length with that of the contract."""
    features = dataset.info["features"]
    numeric = [
        name for name, f in features.items() if f["dtype"] in _NUMBERS and not name.startswith("label.")
    ]
    broken = False
    for index, part in enumerate(parts):
        what, fix = _part_fault(features.get(part.feature), part, numeric)
        if what:
            broken = True
            yield recipe.fault((key, index), what, fix)
    if broken:
        return
    found = sum(width(dataset.info, part) for part in parts)
    if found != dim:
        steps = f" and action_steps is {recipe.action_steps}" if contract == "action_contract" else ""
        needed = dim // recipe.action_steps if steps else dim
        what = f"{found} numbers ({_shown(dataset, parts)}), but manifest.{contract} has {needed}"
        what += steps if recipe.action_steps > 1 else ""
        yield recipe.fault((key,), what, f"choose columns, or correct {contract}")


def _mask_faults(dataset: Dataset, recipe: SkillRecipe, key: str) -> Iterator[str]:
    """Yield a mismatch if the feature that selects frames does not exist or is not boolean."""
    name, features = getattr(recipe, key), dataset.info["features"]
    if name is not None and features.get(name, {}).get("dtype") != "bool":
        has = ", ".join(other for other, feature in features.items() if feature["dtype"] == "bool") or "none"
        what = f"{name} holds {features[name]['dtype']}" if name in features else f"the dataset has no {name}"
        yield recipe.fault(
            (key,), what, f"name a feature of truth values (it has: {has}), or remove the line"
        )


def _part_fault(
    feature: dict[str, Any] | None, part: FeatureColumns, numeric: Sequence[str]
) -> tuple[str, str]:
    """Return the mismatch of one part and its fix; both are empty where there is none."""
    name, others = part.feature, f"name one of {', '.join(numeric)}"
    if feature is None:
        return f"the dataset has no feature {name}", others
    if feature["dtype"] not in _NUMBERS:
        return f"{name} holds {feature['dtype']}, no numbers", others
    if len(feature["shape"]) != 1:
        return f"{name} has shape {feature['shape']}", "name a feature with one row of numbers"
    count = feature["shape"][0]
    if part.columns is not None and max(part.columns) >= count:
        return (
            f"{name} has {count} numbers, and no column {max(part.columns)}",
            f"count from 0 to {count - 1}",
        )
    return "", ""


def _shown(dataset: Dataset, parts: Sequence[FeatureColumns]) -> str:
    return " + ".join(f"{width(dataset.info, part)} of {part.feature}" for part in parts)
