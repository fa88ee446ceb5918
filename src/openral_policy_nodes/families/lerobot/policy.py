"""A skill of one of LeRobot's families as a Policy: starts its sidecar, and checks that it fits the manifest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.types import PolicyBatch
from openral_policy_nodes.families.adaptive_timeout import AdaptiveTimeout
from openral_policy_nodes.families.lerobot.checkpoint import read_checkpoint
from openral_policy_nodes.families.lerobot.features import Features
from openral_policy_nodes.families.lerobot.identity import identity_of
from openral_policy_nodes.families.lerobot.match import absent_cameras, checkpoint_faults, feature_faults
from openral_policy_nodes.families.lerobot.spec import spec_for
from openral_policy_nodes.families.sidecar_policy import PolicyServer, RemotePolicy
from openral_rskill.registry import RSkillPackage
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.skill_sidecar import skill_sidecar


class LeRobotPolicy:
    """Client of `openral_policy_nodes.families.lerobot.server`."""

    def __init__(self, manifest: RSkillManifest, server: PolicyServer) -> None:
        """Check that the server's policy fits the manifest.

        Raises:
            PolicyError: it does not; the text has every fault with its fix.
        """
        self._remote, self._rows = RemotePolicy(manifest, server), manifest.chunk_size
        features = Features.from_wire(server.description)
        _refuse(manifest, feature_faults(manifest, features))
        self._shape = (features.rows, features.action)

    @property
    def deadline_s(self) -> float:
        """[s] deadline of the last call of the model, which is longer for the first one of a server; 0: none so far."""
        return self._remote.deadline_s

    def reset(self, episodes: Sequence[str]) -> None:
        """Repeat the noise of these episodes; called before the first `predict` of each goal or episode."""
        self._remote.reset(episodes)

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        """Return action chunks (B, H, A) in the representation of the manifest's action contract.

        H is the manifest's `chunk_size`; the checkpoint's chunks may be longer, and are cut.

        Raises:
            PolicyError: the server refuses the batch, or fails.
        """
        data = {
            "images": dict(batch.images),
            "state": batch.state,
            "instructions": list(batch.instructions),
            "episodes": list(batch.episodes),
        }
        return self._remote.predict(data, (len(batch), *self._shape))[:, : self._rows]

    def close(self) -> None:
        """Close the connection; a server that was started for this policy ends."""
        self._remote.close()


def load(package: RSkillPackage, device: str = "cpu") -> LeRobotPolicy:
    """Start the sidecar of a skill of this family, or connect to one that serves the same checkpoint.

    Raises:
        PolicyError: the checkpoint does not fit the manifest, or the sidecar does not start.
    """
    manifest = package.manifest
    checkpoint = read_checkpoint(package.checkpoint().absolute())
    _refuse(manifest, checkpoint_faults(manifest, checkpoint))
    dtype, seed = manifest.quantization.dtype, manifest.policy_extras.get("seed", 0)
    arguments = [
        "--checkpoint",
        str(checkpoint.folder),
        "--device",
        device,
        "--dtype",
        dtype,
        "--seed",
        str(seed),
    ]
    for name in absent_cameras(manifest):
        arguments += ["--absent-camera", name]
    spec, identity = spec_for(checkpoint.kind), identity_of(checkpoint, dtype)
    settings = SidecarSettings(call_timeout_s=AdaptiveTimeout(manifest.latency_budget).least_s)
    with skill_sidecar(manifest, spec, arguments, identity, settings) as server:
        return LeRobotPolicy(manifest, server)


def _refuse(manifest: RSkillManifest, faults: Sequence[str]) -> None:
    if faults:
        raise PolicyError(f"{manifest.name} does not fit its checkpoint: {'; '.join(faults)}")
