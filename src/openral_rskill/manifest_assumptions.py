"""The assumptions that openral makes where a manifest omits a value or contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from openral_core.adapters.state_layout import layout_of
from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest
from openral_core.manifest.actuators import GRIPPER_MODES
from openral_core.manifest.family_rules import unread_fields
from openral_core.scene import DeployScene
from openral_rskill.checks.embodiment import CONTROL_MODES


@dataclass(frozen=True)
class Assumption:
    """One assumption."""

    about: str
    """Field of the manifest."""
    taken: str
    """The value that is assumed for it, and why."""


def assumptions(manifest: RSkillManifest, scene: DeployScene | None = None) -> list[Assumption]:
    """Return all assumptions about a manifest, in the order of its fields.

    Args:
        manifest: the skill.
        scene: where it is to run; without it, what depends on a scene is said in general.
    """
    found = [
        Assumption("family", f"{name} is stated, and family {manifest.model_family} does not read it")
        for name in unread_fields(manifest.model_family, dict(manifest))
    ]
    if manifest.kind == "vla":
        found += [*_sizes(manifest), *_actuators(manifest, scene), *_state(manifest)]
        found += [*_action(manifest, scene), *_chunk(manifest)]
    return found


def _sizes(manifest: RSkillManifest) -> Iterator[Assumption]:
    preprocessing = manifest.image_preprocessing
    size = preprocessing.image_size if preprocessing else None
    if size is None:
        yield Assumption(
            "image_preprocessing.image_size",
            "not stated: images reach the checkpoint as the scene sends them",
        )
        return
    for sensor in manifest.sensors_required:
        least = (sensor.min_height, sensor.min_width)
        if None not in least and least != size:
            key = sensor.vla_feature_key or sensor.modality
            yield Assumption(
                f"sensors_required {key}",
                f"asks for at least {least[1]}x{least[0]} px, the checkpoint takes {size[1]}x{size[0]}: "
                "image_preprocessing.image_size counts, a camera of that size will do",
            )


def _actuators(manifest: RSkillManifest, scene: DeployScene | None) -> Iterator[Assumption]:
    contract = manifest.action_contract
    representation = contract.representation if contract else None
    if representation is None and scene is not None:
        representation = scene.action.representation
    if representation is None:
        return
    mode = CONTROL_MODES[representation]
    arms = [actuator.kind for actuator in manifest.actuators_required if actuator.kind not in GRIPPER_MODES]
    for kind in dict.fromkeys(kind for kind in arms if kind not in (mode, "composite_mode")):
        yield Assumption(
            "actuators_required",
            f"says {kind}, the actions are {representation}: the action contract counts, "
            f"the arm is commanded by {mode}",
        )


def _state(manifest: RSkillManifest) -> Iterator[Assumption]:
    contract = manifest.state_contract
    if contract is not None and contract.layout is None:
        try:
            layout = layout_of(manifest)
        except ContractError:
            return  # a gate says so
        tags = ", ".join(manifest.embodiment_tags)
        yield Assumption(
            "state_contract.layout",
            f"not stated: {layout}, the usual one of {contract.dim} numbers for {tags}",
        )


def _action(manifest: RSkillManifest, scene: DeployScene | None) -> Iterator[Assumption]:
    contract, where = manifest.action_contract, scene.action if scene is not None else None
    if contract is None:
        return
    if contract.representation is None:
        value = f", {where.representation}" if where else ""
        yield Assumption("action_contract.representation", f"not stated: taken to be the scene's{value}")
    if contract.control_hz is None:
        value = f", {scene.control_hz:g} Hz" if scene else ""
        yield Assumption("action_contract.control_hz", f"not stated: taken to be the scene's{value}")
    representation = contract.representation or (where.representation if where else "")
    if contract.step_m is None and representation.startswith("delta_ee"):
        value = f", {where.step_m:g} m" if where and where.step_m else ""
        yield Assumption(
            "action_contract.step_m", f"not stated: a command of 1 moves as far as the scene says{value}"
        )


def _chunk(manifest: RSkillManifest) -> Iterator[Assumption]:
    if manifest.n_action_steps is None:
        yield Assumption(
            "n_action_steps", f"not stated: all {manifest.chunk_size} actions of a chunk are executed"
        )
    elif manifest.n_action_steps != manifest.chunk_size:
        yield Assumption(
            "n_action_steps",
            f"{manifest.n_action_steps} of the {manifest.chunk_size} actions of a chunk are executed",
        )
