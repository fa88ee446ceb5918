"""An OpenVLA-OFT skill as a Policy: starts its sidecar, and checks that it fits the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError
from openral_core.manifest import ImagePreprocessing, RSkillManifest
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.adaptive_timeout import AdaptiveTimeout
from openral_policy_nodes.families.openvla_oft.actions import gripper_to_libero
from openral_policy_nodes.families.openvla_oft.checkpoint import read_checkpoint
from openral_policy_nodes.families.openvla_oft.identity import identity_of
from openral_policy_nodes.families.openvla_oft.settings import OpenVlaSettings
from openral_policy_nodes.families.openvla_oft.spec import SPEC
from openral_policy_nodes.families.sidecar_policy import PolicyServer, RemotePolicy
from openral_rskill.registry import RSkillPackage
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.skill_sidecar import skill_sidecar

GRIPPERS = ("binary_close_one", "normalized_open_unit")
"""Supported gripper conventions: -1 open and 1 closed, as in LIBERO; 0 closed to 1 open, as in the demonstrations."""
DTYPES = ("fp32", "bf16", "fp16", "int4")
"""Supported number formats; int4 is NF4 for the layers of the language model and bf16 for the others."""


class OpenVLAOFTPolicy:
    """Client of a server (`server.py`) that converts the gripper to the manifest's convention."""

    def __init__(self, manifest: RSkillManifest, server: PolicyServer) -> None:
        """Check that the server's policy fits the manifest.

        Raises:
            PolicyError: it does not; the text has every fault with its fix.
        """
        self._remote = RemotePolicy(manifest, server)
        self._binary = _gripper(manifest) == "binary_close_one"
        faults = _faults(manifest, server.description)
        if faults:
            raise PolicyError(f"{manifest.name} does not fit its checkpoint: {'; '.join(faults)}")
        self._shape = (manifest.chunk_size, int(server.description["action"]))

    @property
    def deadline_s(self) -> float:
        """[s] deadline of the last call of the model, which is longer for the first one of a server; 0: none so far."""
        return self._remote.deadline_s

    def reset(self, episodes: Sequence[str]) -> None:
        """Repeat the samples of these episodes; called before the first `predict` of each goal or episode."""
        self._remote.reset(episodes)

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        The images are used in the order of the batch, which is that of the manifest's cameras.

        Raises:
            PolicyError: the server refuses the batch, or fails.
        """
        data = {
            "images": np.stack(list(batch.images.values()), axis=1),
            "state": batch.state,
            "instructions": list(batch.instructions),
            "episodes": list(batch.episodes),
        }
        result = self._remote.predict(data, (len(batch), *self._shape)).copy()  # decoded arrays are read-only
        if self._binary:
            result[..., -1] = gripper_to_libero(result[..., -1])
        return result

    def close(self) -> None:
        """Close the connection; a server that was started for this policy ends."""
        self._remote.close()


def settings_for(manifest: RSkillManifest) -> OpenVlaSettings:
    """Return the settings of inference from a manifest.

    Raises:
        PolicyError: the data set is not named, or `policy_extras` has an unknown key or an invalid value.
    """
    preprocessing = manifest.image_preprocessing or ImagePreprocessing()
    if preprocessing.norm_tag is None:
        raise PolicyError(
            f"{manifest.name}: image_preprocessing.norm_tag is missing; name the data set (unnorm_key)"
        )
    cameras = sum(sensor.count for sensor in manifest.sensors_required if sensor.modality == "rgb")
    try:
        return OpenVlaSettings.of_extras(
            preprocessing.norm_tag, manifest.chunk_size, cameras, manifest.policy_extras
        )
    except PolicyError as error:
        raise PolicyError(f"{manifest.name}: {error}") from error


def load(package: RSkillPackage, device: str = "cpu") -> OpenVLAOFTPolicy:
    """Start the sidecar of a skill of this family, or connect to one with the same checkpoint and settings.

    Raises:
        PolicyError: the checkpoint does not fit the manifest, or the sidecar does not start.
    """
    manifest = package.manifest
    _gripper(manifest)
    checkpoint, settings = read_checkpoint(package.checkpoint().absolute()), settings_for(manifest)
    dtype = manifest.quantization.dtype
    if dtype not in DTYPES:
        raise PolicyError(
            f"{manifest.name}: quantization.dtype {dtype}; OpenVLA-OFT runs in {', '.join(DTYPES)}"
        )
    arguments = [
        "--checkpoint",
        str(checkpoint.folder),
        "--device",
        device,
        "--dtype",
        dtype,
        *settings.arguments(),
    ]
    if (least := manifest.quantization.extra.get("min_params_to_quantize")) is not None:
        arguments += ["--min-numel", str(least)]
    identity = identity_of(checkpoint, settings, dtype)
    watch = SidecarSettings(call_timeout_s=AdaptiveTimeout(manifest.latency_budget).least_s)
    with skill_sidecar(manifest, SPEC, arguments, identity, watch) as server:
        return OpenVLAOFTPolicy(manifest, server)


def _gripper(manifest: RSkillManifest) -> str:
    named = [actuator.control_mode_semantics.gripper_convention for actuator in manifest.actuators_required]
    found = [convention for convention in named if convention is not None]
    if len(found) != 1 or found[0] not in GRIPPERS:
        raise PolicyError(
            f"{manifest.name}: actuators_required says {', '.join(found) or 'nothing'} of the gripper; give one "
            f"gripper actuator with gripper_convention {' or '.join(GRIPPERS)}"
        )
    return found[0]


def _faults(manifest: RSkillManifest, description: Mapping[str, Any]) -> list[str]:
    faults = []
    size = int(description["image_size"])
    if (manifest.image_preprocessing or ImagePreprocessing()).image_size != (size, size):
        faults.append(
            f"the policy takes images of {size} px; write image_preprocessing.image_size: [{size}, {size}]"
        )
    action = manifest.action_contract
    if action is None or action.dim != description["action"]:
        faults.append(
            f"the policy gives {description['action']} numbers; write action_contract.dim: {description['action']}"
        )
    dim = manifest.state_contract.dim if manifest.state_contract is not None else None
    if description["state"] and dim != description["state"]:
        faults.append(
            f"the policy takes {description['state']} numbers; write state_contract.dim: {description['state']}"
        )
    return faults
