"""Identity of the checkpoint that an OpenVLA-OFT server holds, computed by both client and server."""

from __future__ import annotations

from openral_policy_nodes.families.openvla_oft.checkpoint import OpenVlaCheckpoint
from openral_policy_nodes.families.openvla_oft.settings import OpenVlaSettings
from openral_sidecar.identity import Identity


def identity_of(checkpoint: OpenVlaCheckpoint, settings: OpenVlaSettings, dtype: str) -> Identity:
    """Return the identity: folder, data set of the statistics, number format, and fingerprint of the files."""
    return Identity(str(checkpoint.folder), settings.norm_tag, dtype, checkpoint.fingerprint())
