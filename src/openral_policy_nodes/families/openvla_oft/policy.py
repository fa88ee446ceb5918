"""An OpenVLA-OFT skill as a Policy: its sidecar is started, compared with the manifest, and asked."""

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
"""What a manifest may say of the gripper: -1 open and 1 closed, as LIBERO takes it; or 0 closed to 1 open, as the
demonstrations have it."""
DTYPES = ("fp32", "bf16", "fp16", "int4")
"""Number formats of a manifest; int4 is NF4 for the layers of the language model and bf16 for all else."""


class OpenVLAOFTPolicy:
    """Asks a server (`server.py`) for chunks, and turns the gripper's sign into the robot's."""

    def __init__(self, manifest: RSkillManifest, server: PolicyServer) -> None:
        """Compare the server's policy with the manifest.

        Raises:
            PolicyError: they do not fit; every fault with its fix.
        """
        self._remote = RemotePolicy(manifest, server)
        self._binary = _gripper(manifest) == "binary_close_one"
        faults = _faults(manifest, server.description)
        if faults:
            raise PolicyError(f"{manifest.name} does not fit its checkpoint: {'; '.join(faults)}")
        self._shape = (manifest.chunk_size, int(server.description["action"]))

    def reset(self, episodes: Sequence[str]) -> None:
        """Forget what is remembered of these episodes; called before the first `predict` of each goal or episode.

        The drawing of these episodes begins anew.
        """
        self._remote.reset(episodes)

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        The cameras are those of the batch, in its order (the manifest's).
        """
        data = {
            "images": np.stack(list(batch.images.values()), axis=1),
            "state": batch.state,
            "instructions": list(batch.instructions),
            "episodes": list(batch.episodes),
        }
        result = self._remote.predict(
            data, (len(batch), *self._shape)
        ).copy()  # what came by wire is read-only
        if self._binary:
            result[..., -1] = gripper_to_libero(result[..., -1])
        return result

    def close(self) -> None:
        """Leave the server; one that was started for this policy ends."""
        self._remote.close()


def settings_for(manifest: RSkillManifest) -> OpenVlaSettings:
    """Read what the manifest says about inference.

    Raises:
        PolicyError: the data set is not named, or `policy_extras` has an unknown key.
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
    """Start the sidecar of a skill of this family, or join one that serves the same checkpoint the same way.

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
