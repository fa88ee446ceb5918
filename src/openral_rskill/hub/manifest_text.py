"""The text of a new manifest from a checkpoint and a scene; values that neither determines are marked as guesses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from openral_core.robot import load_robot
from openral_core.scene import DeployScene
from openral_rskill.hub.lerobot_config import POSTPROCESSOR, PREPROCESSOR, PolicyFacts

PER_CHUNK_MS = 200.0
"""[ms] a guess for the latency budget where no scene says how long a chunk lasts."""
_PLAIN = re.compile(r"[A-Za-z]\w*[./][\w./-]+", re.ASCII)
"""Names such as observation.images.top, which YAML reads as they are."""


@dataclass(frozen=True)
class Draft:
    """The data of a new skill from which its manifest is written."""

    name: str
    """owner/rskill-name"""
    license: str
    embodiment: str
    weights_uri: str
    processors: str
    """URI prefix of the processor files: hf://owner/repository/ or local://checkpoint/."""
    dtype: str
    source_repo: str | None
    facts: PolicyFacts
    scene: DeployScene | None
    """The scene whose cameras and action contract the skill is to fit."""


def manifest_text(draft: Draft) -> str:
    """Return the text of `rskill.yaml`, in which guesses are marked."""
    return (
        "\n".join(
            [
                *_identity(draft),
                *_senses(draft),
                *_weights(draft),
                *_motion(draft),
                *_body(draft),
                *_words(),
            ]
        )
        + "\n"
    )


def camera_keys(draft: Draft) -> dict[str, str]:
    """Return feature key of the scene -> name in the checkpoint; without a scene, the checkpoint's own names.

    Equal names are paired first, the others in their order: look at the aliases in the manifest.
    """
    wanted = list(draft.facts.cameras)
    if draft.scene is None:
        return {name: name for name in wanted}
    offered = [camera.feature_key for camera in draft.scene.cameras]
    pairs = {name: name for name in wanted if name in offered}
    left = [key for key in offered if key not in pairs]
    for name in wanted:
        if name not in pairs:
            pairs[left.pop(0) if left else name] = name
    return pairs


def _identity(draft: Draft) -> Iterator[str]:
    family = draft.facts.family
    yield "# Written by `openral rskill new`. Lines marked with ? are guesses: check them."
    yield 'schema_version: "0.1"'
    yield f"name: {draft.name}"
    yield 'version: "0.1.0"'
    if draft.license == "unknown":
        yield "# ? Of the weights. Until it is stated nothing of them is opened."
    yield f"license: {draft.license}"
    yield "role: s1"
    yield "kind: vla"
    yield f"model_family: {family}"
    yield f"description: {json.dumps(f'A policy of the {family} family, {draft.facts.action_dim} numbers an action.')}"


def _senses(draft: Draft) -> Iterator[str]:
    facts, pairs = draft.facts, camera_keys(draft)
    yield f"embodiment_tags: [{draft.embodiment}]"
    if pairs:
        yield "sensors_required:"
        yield from (f"  - {{modality: rgb, vla_feature_key: {_text(key)}}}" for key in pairs)
    yield "image_preprocessing:"
    yield "  # ? Whether the demonstrations' images are turned: compare one with the scene's."
    yield "  flip_180: false"
    if facts.image_size:
        yield f"  image_size: [{facts.image_size[0]}, {facts.image_size[1]}]"
    if facts.n_obs_steps > 1:
        yield f"  history: {list(range(1 - facts.n_obs_steps, 1))}"
    aliases = {key: name for key, name in pairs.items() if key != name}
    if aliases:
        yield "  aliases:  # ? camera of the scene -> name in the checkpoint"
        yield from (f"    {_text(key)}: {_text(name)}" for key, name in aliases.items())
    if facts.state_dim:
        history = ", history: true" if facts.n_obs_steps > 1 else ""
        layout = ""
        if _takes_joints(draft):
            yield "# ? All joints of robot.yaml in its order; another layout: `openral rskill schema` lists them."
            layout = "layout: joint_positions, "
        else:
            yield "# ? Add `layout:` where the robot's usual one is not meant; `openral rskill schema` lists them."
        yield f"state_contract: {{{layout}dim: {facts.state_dim}{history}}}"


def _takes_joints(draft: Draft) -> bool:
    """Whether the state is as long as the robot has joints, in a scene whose actions are those of joints."""
    scene = draft.scene
    if scene is None or "joint" not in scene.action.representation:
        return False
    return draft.facts.state_dim == len(load_robot(scene.robot_id).joint_names)


def _weights(draft: Draft) -> Iterator[str]:
    yield "runtime: pytorch"
    yield f"quantization: {{dtype: {draft.dtype}, backend: pytorch}}"
    yield f"weights_uri: {draft.weights_uri}"
    if draft.source_repo:
        yield f"source_repo: {draft.source_repo}"
    yield "processors:"
    yield f"  preprocessor_uri: {draft.processors}{PREPROCESSOR}"
    yield f"  postprocessor_uri: {draft.processors}{POSTPROCESSOR}"


def _motion(draft: Draft) -> Iterator[str]:
    facts, scene = draft.facts, draft.scene
    fields = [f"dim: {facts.action_dim}"]
    if scene is not None:
        yield f"# ? As the scene {scene.scene.id} takes them; they must be what the demonstrations were."
        fields += [f"representation: {scene.action.representation}", f"control_hz: {scene.control_hz:g}"]
        fields += [f"step_m: {scene.action.step_m:g}"] if scene.action.step_m else []
    yield f"action_contract: {{{', '.join(fields)}}}"
    kind, semantics = _actuator(scene)
    yield "actuators_required:"
    yield f"  - kind: {kind}"
    yield f"    control_mode_semantics: {semantics}"
    yield f"chunk_size: {facts.chunk_size}"
    yield f"n_action_steps: {min(facts.n_action_steps, facts.chunk_size)}"
    # Half of the time that a chunk lasts: inference keeps up, with as much to spare.
    budget_ms = 500.0 * facts.chunk_size * scene.dt if scene is not None else PER_CHUNK_MS
    yield f"latency_budget: {{per_chunk_ms: {budget_ms:g}}}  # ? `openral sim run` prints what it takes"


def _actuator(scene: DeployScene | None) -> tuple[str, str]:
    """Return kind and meaning of what moves the arm."""
    if scene is not None and scene.action.representation.startswith("delta_ee"):
        return "cartesian_delta", "{mode: delta, reference_frame: world}"
    return "joint_position", "{mode: absolute}"


def _body(draft: Draft) -> Iterator[str]:
    """A body that is on no list is described by the skill itself."""
    if draft.embodiment != "custom":
        return
    kind, semantics = _actuator(draft.scene)
    yield "# A body of the tag `custom`: what it sees with, and what moves."
    yield "embodiment_extra:"
    yield "  sensors:"
    yield from (f"    - {{modality: rgb, vla_feature_key: {_text(key)}}}" for key in camera_keys(draft))
    if not draft.facts.cameras:
        yield "    - {modality: proprioception}"
    yield "  actuators:"
    yield f"    - kind: {kind}"
    yield f"      n_dof: {draft.facts.action_dim}"
    yield "      vla_action_key: action"
    yield f"      control_mode_semantics: {semantics}"


def _text(name: str) -> str:
    """Return a name from a checkpoint's configuration as YAML, in quotes unless it can be nothing but a plain word."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def _words() -> Iterator[str]:
    yield "# ? What it can do, for the reasoner: verbs, things, places, and one sentence a task at least."
    yield "actions: [generalist]"
    yield "objects: []"
    yield "scenes: []"
    yield "# Tasks, families of tasks or scenes it was evaluated on; with an entry, others are refused."
    yield "evaluated_tasks: []"
