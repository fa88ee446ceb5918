"""The licence gate, which precedes every download and every opening of weights.

It prevents oversights, not deception: a false licence in a manifest is accepted. Known facts about weights (the owner
of their repository, the origin that the installer recorded beside them) take precedence over the manifest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from openral_core.errors import LicenseError, ManifestError, NotFoundError, WeightsError
from openral_core.files.json_file import read_json_object
from openral_core.manifest import COMMERCIAL_LICENSES, MANIFEST_NAME, RSkillManifest, load_manifest
from openral_core.manifest.runtime import LOCAL
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.store.store_folders import skill_folders

OPT_IN = "OPENRAL_ACCEPT_NONCOMMERCIAL"
OPT_INS = (OPT_IN, "OPENRAL_ALLOW_NONCOMMERCIAL")
"""Variables that accept non-commercial terms when they are exactly `1`; the second is another project's name."""

KNOWN_OWNERS = {"rlwrld": "rlwrld_non_commercial"}
"""Owner of a hub repository, in lower case -> licence of the weights it publishes. RLWRLD: RLWRLD Model License v1.0
(https://huggingface.co/RLWRLD/RLDX-1-FT-LIBERO)."""
KNOWN_ARCHITECTURES = {"RLDX": "rlwrld_non_commercial"}
"""Model class in `config.json` -> licence, for folders without other information."""
ORIGIN_FILE = ".openral-origin.json"
"""Written by the installer to every folder of downloaded weights, so that the origin of copies is known, too."""


def check_license(
    manifest: RSkillManifest,
    *,
    folder: Path | None = None,
    accept_noncommercial: bool | None = None,
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Raise LicenseError for weights that may not be used commercially, unless their terms were accepted.

    Call it before any part of the weights is downloaded or opened. A proprietary or unknown licence is treated like a
    non-commercial one, since it may allow nothing.

    Args:
        manifest: of the skill.
        folder: of the skill or of its weights, if they are on this machine.
        accept_noncommercial: the operator's decision; None: accepted if one of OPT_INS is 1.
        environment: variables of the process.

    Raises:
        LicenseError: the weights are refused; the text says how to accept the terms.
    """
    if manifest.weights_uri is None:
        return
    name = next((uri for uri in _repositories(manifest)), manifest.name)
    origin = next((found for place in _places(manifest, folder) if (found := _origin(place))), None)
    license_ = known_license([*_repositories(manifest), *([origin] if origin else [])]) or manifest.license
    _require(license_, _shown(origin or name), accept_noncommercial, environment)


def check_checkpoint_license(
    model: str, *, accept_noncommercial: bool | None = None, environment: Mapping[str, str] = os.environ
) -> None:
    """Apply the licence gate to weights that are named without a manifest, as for a sidecar started by hand.

    Args:
        model: `owner/repository`, `hf://owner/repository`, or a folder.
        accept_noncommercial: see `check_license`.
        environment: see `check_license`.

    Raises:
        LicenseError: the weights are refused, or their licence is unknown.
        ManifestError: the manifest in the folder is wrong.
    """
    path = Path(model.removeprefix(LOCAL))
    if os.path.isdir(path):
        path = path.resolve()  # follows links
        manifest = _manifest_of(path)
        if manifest is not None:
            check_license(
                manifest, folder=path, accept_noncommercial=accept_noncommercial, environment=environment
            )
            return
        origin = _origin(path)
        license_ = (known_license([origin]) if origin else None) or _architecture_license(path)
        _require(license_, _shown(origin or str(path)), accept_noncommercial, environment)
        return
    license_ = known_license([model]) or _license_in_manifests(model)
    _require(license_, _shown(model), accept_noncommercial, environment)


def accepts_noncommercial(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment accepts non-commercial terms: one of OPT_INS is exactly `1`."""
    return any(environment.get(name) == "1" for name in OPT_INS)


def known_license(repositories: Sequence[str]) -> str | None:
    """Return the licence of the first of these hub repositories whose owner is in KNOWN_OWNERS, or None."""
    for repository in repositories:
        owner = repository.removeprefix("hf://").split("/", 1)[0].lower()
        if "/" in repository and owner in KNOWN_OWNERS:
            return KNOWN_OWNERS[owner]
    return None


def is_evaluated(evaluated_tasks: Sequence[str], task_id: str, scene_id: str) -> bool:
    """Return whether a skill was evaluated on a task; True if `evaluated_tasks` is empty.

    An entry is a task id, a family of tasks (`metaworld` covers `metaworld/drawer-open-v3`) or a scene id.
    """
    if not evaluated_tasks:
        return True
    return any(
        task_id == entry or task_id.startswith(f"{entry}/") or scene_id == entry for entry in evaluated_tasks
    )


def _require(
    license_: str, weights: str, accept_noncommercial: bool | None, environment: Mapping[str, str]
) -> None:
    if license_ in COMMERCIAL_LICENSES:
        return
    accepted = accepts_noncommercial(environment) if accept_noncommercial is None else accept_noncommercial
    if not accepted:
        raise LicenseError(
            f"{weights}: licence '{license_}' does not allow commercial use; "
            f"if your use is non-commercial and its terms are met, set {OPT_IN}=1"
        )


def _repositories(manifest: RSkillManifest) -> list[str]:
    """Return the hub repositories of the weights that the manifest names."""
    return [uri for uri in (manifest.weights_uri, manifest.source_repo) if uri and uri.startswith("hf://")]


def _places(manifest: RSkillManifest, folder: Path | None) -> list[Path]:
    """Return the folders in which the installer may have recorded the origin of weights."""
    if folder is None:
        return []
    uri = manifest.weights_uri or ""
    local = folder / uri.removeprefix(LOCAL) if uri.startswith(LOCAL) else folder
    return [local, local.parent, folder]


def _shown(weights: str) -> str:
    """Return the name of weights for messages: repositories without scheme and revision."""
    if weights.startswith("hf://"):
        return HubReference.parse(weights).repository
    return weights


def _origin(folder: Path) -> str | None:
    """Return the repository that the installer recorded beside downloaded weights; None: there is no record."""
    try:
        note = read_json_object(folder / ORIGIN_FILE, WeightsError)
        return f"{HUB}{HubReference.parse(str(note['repository'])).repository}"
    except (WeightsError, NotFoundError, KeyError):
        return None


def _manifest_of(folder: Path) -> RSkillManifest | None:
    """Return the manifest in a folder of weights, or in the one above it."""
    for place in (folder, folder.parent):
        if os.path.isfile(place / MANIFEST_NAME):
            return load_manifest(place)
    return None


def _architecture_license(folder: Path) -> str:
    try:
        names = read_json_object(folder / "config.json", WeightsError)["architectures"]
        return next((KNOWN_ARCHITECTURES[name] for name in names if name in KNOWN_ARCHITECTURES), "unknown")
    except (WeightsError, KeyError, TypeError):
        return "unknown"


def _license_in_manifests(model: str) -> str:
    """Return the licence of a repository's weights in the manifests on this machine, or `unknown`."""
    wanted = _shown(model if model.startswith("hf://") else f"hf://{model}") if "/" in model else model
    for folder in skill_folders():
        try:
            manifest = load_manifest(folder)
        except ManifestError:
            continue  # other skills' faults are irrelevant here
        if wanted in (manifest.name, *(_shown(uri) for uri in _repositories(manifest))):
            return manifest.license
    return "unknown"
