"""A single hash of the weights of a skill, for any number of files."""

from __future__ import annotations

import hashlib

from openral_core.manifest.family_rules import server_elsewhere
from openral_rskill.package import RSkillPackage
from openral_rskill.store.lockfile import sha256_of


def weights_sha256(package: RSkillPackage) -> str | None:
    """Return the hash of the weights: of the one file, or of the hashes of several.

    None where there is nothing to hash: a server elsewhere holds the weights, or there are none.

    Raises:
        OpenralError: the weights are not there, or not to be used; see `RSkillPackage.checkpoint`.
    """
    manifest = package.manifest
    if manifest.weights_uri is None or server_elsewhere(manifest.model_family) is not None:
        return None
    files = sorted(package.checkpoint().rglob("*.safetensors"))
    if len(files) == 1:
        return sha256_of(files[0])
    return hashlib.sha256("".join(sha256_of(file) for file in files).encode()).hexdigest()
