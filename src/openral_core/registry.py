"""Finding skills: by path, bare name, `rskill://rskills/<name>` or `owner/rskill-name`."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openral_core.errors import ManifestError, NotFoundError
from openral_core.manifest import MANIFEST_NAME, RSkillManifest, load_manifest
from openral_core.manifest.runtime import LOCAL
from openral_core.named_files import NAME
from openral_core.safetensors_file import weights_fault
from openral_core.schema import inside
from openral_core.share import share_directory

SCHEME = "rskill://"
_HOST = "rskills/"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RSkillPackage:
    """A manifest and the folder it lies in."""

    manifest: RSkillManifest
    folder: Path

    @property
    def slug(self) -> str:
        """The skill's name as ROS allows it in topic and node names: `mini-metaworld` -> `mini_metaworld`."""
        word = re.sub(r"[^a-z0-9]+", "_", self.manifest.short_name.lower()).strip("_") or "skill"
        return word if word[0].isalpha() else f"skill_{word}"

    def weights_path(self) -> Path:
        """Return the safetensors file of the weights.

        Raises:
            NotFoundError: the manifest names none, they are on a hub, or the file is not there.
            ManifestError: the file lies outside the folder, is not safetensors or is not whole.
        """
        uri = self.manifest.weights_uri
        place = self.folder / MANIFEST_NAME
        if uri is None:
            raise NotFoundError(f"{place}: a skill of kind {self.manifest.kind} has no weights")
        if not uri.startswith(LOCAL):
            raise NotFoundError(
                f"{place}: weights are at {uri}; put the safetensors file into {self.folder} "
                f"and write weights_uri: {LOCAL}model.safetensors"
            )
        path = inside(self.folder, uri.removeprefix(LOCAL))
        if path is None:
            raise ManifestError(
                f"{place}: weights_uri: {uri} leaves the folder; put the file beside {MANIFEST_NAME}"
            )
        fault = weights_fault(path)
        if fault and not os.path.exists(path):
            raise NotFoundError(f"{place}: weights_uri: {fault}; fetch or train the weights")
        if fault:
            raise ManifestError(f"{place}: weights_uri: {fault}; fetch the file again as safetensors")
        return path


def load_package(path: Path) -> RSkillPackage:
    """Load the skill in a folder, or of an `rskill.yaml`. Raises ManifestError as `load_manifest` does."""
    manifest = load_manifest(path)
    return RSkillPackage(manifest, path if path.is_dir() else path.parent)


def resolve(ref: str, search: Sequence[Path] = ()) -> RSkillPackage:
    """Find a skill.

    Args:
        ref: path of a folder or `rskill.yaml`, bare name, `rskill://rskills/<name>` or `owner/rskill-name`.
        search: folders of skills that are looked through first, before openral's own `rskills/`.

    Raises:
        NotFoundError: nothing of that name; the text lists what there is.
        ManifestError: the skill is there, and its manifest is wrong.
    """
    name = ref
    if ref.startswith(SCHEME):
        name = ref.removeprefix(SCHEME).removeprefix(_HOST)
        if not NAME.fullmatch(name) or not ref.startswith(SCHEME + _HOST):
            raise NotFoundError(f"skill '{ref}': write {SCHEME}{_HOST}<name>")
    elif "://" in ref:
        raise NotFoundError(f"skill '{ref}': only {SCHEME} is known; give a path, a name or owner/name")
    elif _is_skill(Path(ref)):
        return load_package(Path(ref))
    folders = skill_folders(search)
    for folder in folders:
        if folder.name == name:
            return load_package(folder)
    loaded = [package for folder in folders if (package := _try_load(folder))]
    for package in loaded:
        if name in (package.manifest.name, package.manifest.short_name):
            return package
    names = ", ".join(sorted(package.manifest.short_name for package in loaded)) or "none"
    raise NotFoundError(f"skill '{ref}' was not found; there is: {names}")


def list_skills(search: Sequence[Path] = ()) -> list[RSkillPackage]:
    """Load every skill that can be loaded; the others are logged. Sorted by name."""
    packages = [package for folder in skill_folders(search) if (package := _try_load(folder))]
    return sorted(packages, key=lambda package: package.manifest.name)


def skill_folders(search: Sequence[Path] = ()) -> list[Path]:
    """Return the folders that hold an `rskill.yaml`, those of `search` first."""
    roots = [*search, share_directory() / "rskills"]
    return [
        folder for root in roots if root.is_dir() for folder in sorted(root.iterdir()) if _holds_skill(folder)
    ]


def _is_skill(path: Path) -> bool:
    return _holds_skill(path) or (path.suffix in (".yaml", ".yml") and os.path.isfile(path))


def _holds_skill(folder: Path) -> bool:
    # os.path answers False for names that no file system takes, where Path would raise.
    return os.path.isfile(folder / MANIFEST_NAME)


def _try_load(folder: Path) -> RSkillPackage | None:
    try:
        return load_package(folder)
    except ManifestError as error:
        _log.warning("skill left out: %s", error)
        return None
