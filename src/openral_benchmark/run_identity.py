"""The identity of a run: everything that decides its rows. A run is resumed only if its identity is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openral_core.errors import ManifestError
from openral_core.files.settings_difference import settings_difference
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import package_versions
from openral_rskill.weights_hash import weights_sha256

RunIdentity = dict[str, str]
"""Name of each input -> its value, or the SHA-256 of its value."""


def digest(content: object) -> str:
    """Return the SHA-256, in hex, of a value's JSON with sorted keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def run_identity(package: RSkillPackage, **decides: Any) -> RunIdentity:
    """Return what decides the rows of a run of a skill.

    Args:
        package: the skill, whose manifest and weights count, as do the versions of the packages that it runs on.
        decides: other inputs that decide rows, by name; strings and numbers are kept, of others the digest.
    """
    return {
        "skill": f"{package.manifest.name} {package.manifest.version}",
        "manifest": hashlib.sha256((package.folder / "rskill.yaml").read_bytes()).hexdigest(),
        "weights": str(weights_sha256(package)),
        **{name: str(version) for name, version in package_versions().items()},
        **{
            name: str(value) if isinstance(value, str | int | float | bool | None) else digest(value)
            for name, value in decides.items()
        },
    }


def require_same(path: Path, found: object, wanted: RunIdentity) -> None:
    """Require that rows in a file are of the run that is to be resumed with them.

    Args:
        path: of the rows, for the message.
        found: the identity in their first line.
        wanted: the identity of the run.

    Raises:
        ManifestError: the identities differ; the text names the inputs that do.
    """
    if found == wanted:
        return
    theirs = {name: found.get(name) for name in wanted} if found and isinstance(found, Mapping) else None
    what = f": other {settings_difference(theirs, wanted)}" if theirs else ""
    raise ManifestError(f"{path}: these rows are of another run{what}; name another --out")
