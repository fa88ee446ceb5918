"""Checks that a LeRobot policy fits its manifest; each fault is a sentence with its fix."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from openral_core.errors import PolicyError
from openral_core.manifest import ImagePreprocessing, RSkillManifest
from openral_core.manifest.contracts import LAYOUT_DIMS
from openral_policy_nodes.families.lerobot.checkpoint import PROCESSORS, LeRobotCheckpoint
from openral_policy_nodes.families.lerobot.features import FILLING_KINDS, Features


def checkpoint_faults(manifest: RSkillManifest, checkpoint: LeRobotCheckpoint) -> list[str]:
    """Return the contradictions between the manifest and the checkpoint's files, before a server is started."""
    faults = []
    if manifest.model_family != checkpoint.kind:
        faults.append(
            f"model_family is {manifest.model_family}, the checkpoint's type is {checkpoint.kind}; "
            f"write model_family: {checkpoint.kind}"
        )
    processors = manifest.processors
    if processors is not None:
        named = (processors.preprocessor_uri, processors.postprocessor_uri)
        place = _folder_of(str(manifest.weights_uri))
        for uri, name in zip(named, PROCESSORS, strict=True):
            if uri.rsplit("/", 1)[-1] != name:
                faults.append(f"processors names {uri}; LeRobot reads {name}, name that file")
            elif _folder_of(uri) != place:
                faults.append(
                    f"processors names {uri}; LeRobot reads the {name} beside the weights ({manifest.weights_uri}), "
                    "put the file there and name it so"
                )
    unknown = sorted(set(manifest.policy_extras) - {"seed", "absent_cameras"})
    if unknown:
        faults.append(
            f"policy_extras: {', '.join(unknown)}: only seed and absent_cameras are read; remove the others"
        )
    if type(manifest.policy_extras.get("seed", 0)) is not int:
        faults.append("policy_extras.seed is no whole number; write one")
    if absent_cameras(manifest) and checkpoint.kind not in FILLING_KINDS:
        faults.append(
            f"policy_extras.absent_cameras: a {checkpoint.kind} policy needs all its cameras; remove it"
        )
    if manifest.quantization.dtype not in ("fp32", "bf16", "fp16"):
        faults.append(f"quantization.dtype {manifest.quantization.dtype}; LeRobot runs in fp32, bf16 or fp16")
    return faults


def _folder_of(uri: str) -> str:
    """Return the folder of a file's URI, or of weights, whose URI may name the folder itself; without a revision."""
    scheme, _, path = uri.partition("://")
    if scheme == "hf":  # owner/name, to a hub in any capital letters, and then the file's path
        owner, name, *inside = path.partition("@")[0].lower().split("/")
        path = "/".join([owner, name, *inside[:-1]])
    elif posixpath.splitext(path)[1] in (".json", ".safetensors"):
        path = posixpath.dirname(path)
    return f"{scheme}://{posixpath.normpath(path)}"


def absent_cameras(manifest: RSkillManifest) -> list[str]:
    """Return the cameras in the checkpoint's configuration without which it was trained.

    Raises:
        PolicyError: `policy_extras.absent_cameras` of the manifest is not a list of names.
    """
    names = manifest.policy_extras.get("absent_cameras", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise PolicyError(
            f"{manifest.name}: policy_extras.absent_cameras is no list of input names; write one"
        )
    return [str(name) for name in names]


def feature_faults(manifest: RSkillManifest, features: Features) -> list[str]:
    """Return the contradictions between the manifest and the inputs and outputs of the loaded policy."""
    return [
        *_camera_faults(manifest, features),
        *_size_faults(manifest, features),
        *_number_faults(manifest, features),
    ]


def _camera_faults(manifest: RSkillManifest, features: Features) -> Iterator[str]:
    preprocessing = manifest.image_preprocessing or ImagePreprocessing()
    sensors = [sensor for sensor in manifest.sensors_required if sensor.modality == "rgb"]
    keys = [sensor.vla_feature_key for sensor in sensors if sensor.vla_feature_key]
    given = {preprocessing.input_name(key) for key in keys}
    unknown, missing = sorted(given - set(features.images)), sorted(set(features.images) - given)
    if unknown:
        yield (
            f"sensors_required gives {', '.join(unknown)}, which the policy does not know (it looks through "
            f"{', '.join(sorted(features.images)) or 'no camera'}); alias it to one of these or remove it"
        )
    if missing and len(keys) == len(sensors):  # a sensor without a key takes its name from the scene
        yield (
            f"the policy looks through {', '.join(missing)}, which sensors_required does not give; add a sensor "
            "with that vla_feature_key, or an alias in image_preprocessing"
            + (
                ", or policy_extras.absent_cameras if it was trained without"
                if features.kind in FILLING_KINDS
                else ""
            )
        )
    if features.other:
        yield (f"the policy reads {', '.join(features.other)}, which no robot sends; train one without it")


def _size_faults(manifest: RSkillManifest, features: Features) -> Iterator[str]:
    preprocessing = manifest.image_preprocessing or ImagePreprocessing()
    if not features.any_size and features.images:
        _, height, width = next(iter(features.images.values()))
        if preprocessing.image_size != (height, width):
            yield (
                f"image_preprocessing.image_size is {preprocessing.image_size}, the policy takes one size only; "
                f"write image_size: [{height}, {width}]"
            )
    needed = tuple(range(1 - features.n_obs_steps, 1)) if features.n_obs_steps > 1 else ()
    if tuple(preprocessing.history) != needed:
        fix = f"write history: {list(needed)}" if needed else "remove history"
        yield (
            f"image_preprocessing.history is {list(preprocessing.history)}, the policy sees {features.n_obs_steps} "
            f"consecutive control steps; {fix}"
        )


def _number_faults(manifest: RSkillManifest, features: Features) -> Iterator[str]:
    action, state = manifest.action_contract, manifest.state_contract
    if action is not None and action.dim != features.action:
        yield (
            f"action_contract.dim is {action.dim}, the policy gives {features.action} numbers; "
            f"write dim: {features.action}"
        )
    dim = (state.dim or LAYOUT_DIMS.get(state.layout or "")) if state is not None else None
    if features.state and dim != features.state:
        yield f"state_contract.dim is {dim}, the policy takes {features.state}; write dim: {features.state}"
    with_history = state is not None and state.history
    if features.state and with_history != (features.n_obs_steps > 1):
        word = "true" if features.n_obs_steps > 1 else "false"
        yield f"state_contract.history does not fit a policy of {features.n_obs_steps} instant(s); write {word}"
    if manifest.chunk_size > features.rows:
        yield (
            f"chunk_size is {manifest.chunk_size}, the policy gives {features.rows} actions; "
            f"write at most {features.rows}"
        )
