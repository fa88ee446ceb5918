"""Which checkpoint an OpenVLA-OFT server answers for; the same on both sides of the wire."""

from __future__ import annotations

from openral_policy_nodes.families.openvla_oft.checkpoint import OpenVlaCheckpoint
from openral_policy_nodes.families.openvla_oft.settings import OpenVlaSettings
from openral_sidecar.identity import Identity


def identity_of(checkpoint: OpenVlaCheckpoint, settings: OpenVlaSettings, dtype: str) -> Identity:
    """Return the identity: the folder, the data set's statistics, the number format, the files' fingerprint."""
    return Identity(str(checkpoint.folder), settings.norm_tag, dtype, checkpoint.fingerprint())
