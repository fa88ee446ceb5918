"""Finding skills: by path, bare name, `rskill://rskills/<name>`, `owner/rskill-name` or `hf://owner/name@revision`.

This module does not use the network; skills are downloaded by `openral_rskill.hub.install`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from openral_core.errors import ManifestError, NotFoundError, nearest
from openral_core.files.named_files import NAME
from openral_core.manifest import MANIFEST_NAME, load_manifest
from openral_rskill.package import RSkillPackage
from openral_rskill.store.lockfile import load_lock
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.store.store_folders import holds_skill, installed_skills, skill_folders

__all__ = ["RSkillPackage", "list_skills", "load_package", "resolve"]

SCHEME = "rskill://"
_HOST = "rskills/"
_log = logging.getLogger(__name__)


def load_package(path: Path) -> RSkillPackage:
    """Load the skill in a folder, or of an `rskill.yaml`. Raises ManifestError as `load_manifest` does."""
    manifest = load_manifest(path)
    return RSkillPackage(manifest, path if path.is_dir() else path.parent)


def resolve(ref: str, search: Sequence[Path] = ()) -> RSkillPackage:
    """Find a skill on this machine.

    Args:
        ref: path of a folder or `rskill.yaml`, bare name, `rskill://rskills/<name>`, `owner/rskill-name`, or
            `hf://owner/name[@revision]` of one that was installed.
        search: folders of skills that are looked through first, before openral's own `rskills/` and the cache.

    Raises:
        NotFoundError: there is no skill of that name; the text lists the existing ones.
        ManifestError: the manifest of the skill is wrong.
    """
    name = ref
    if ref.startswith(SCHEME):
        name = ref.removeprefix(SCHEME).removeprefix(_HOST)
        if not NAME.fullmatch(name) or not ref.startswith(SCHEME + _HOST):
            raise NotFoundError(f"skill '{ref}': write {SCHEME}{_HOST}<name>")
    elif ref.startswith(HUB):
        return _resolve_hub(ref)
    elif "://" in ref:
        raise NotFoundError(
            f"skill '{ref}': only {SCHEME} and {HUB} are known; give a path, a name or owner/name"
        )
    elif _is_skill(Path(ref)):
        return load_package(Path(ref))
    folders = skill_folders(search)
    for folder in folders:
        if folder.name == name:
            return load_package(folder)
    loaded = [package for folder in folders if (package := _try_load(folder))]
    for package in loaded:
        # Hubs take no notice of capital letters in a whole name.
        if name == package.manifest.short_name or name.lower() == package.manifest.name.lower():
            return package
    if name.startswith(("/", ".", "~")):
        where = os.path.abspath(name)
        raise NotFoundError(
            f"skill '{ref}' was not found: no {MANIFEST_NAME} in {where}; give a folder with one"
        )
    known = sorted(package.manifest.short_name for package in loaded)
    names, close = ", ".join(known) or "none", nearest(name.rpartition("/")[2], known)
    meant = f"did you mean '{close}'? There" if close else "there"
    may_be_far = name.count("/") == 1 and not name.endswith("/")
    fetch = f"; if it is on the hub: openral rskill install {name}" if may_be_far else ""
    raise NotFoundError(f"skill '{ref}' was not found; {meant} is: {names}{fetch}")


def _resolve_hub(ref: str) -> RSkillPackage:
    """Return an installed skill by the repository that it was downloaded from."""
    wanted = HubReference.parse(ref)
    root = installed_skills()
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        lock = load_lock(folder) if holds_skill(folder) else None
        source = lock.manifest if lock else None
        if source and source.repository.lower() == wanted.repository.lower():
            if wanted.revision in (source.requested, source.revision):
                return load_package(folder)
            raise NotFoundError(
                f"skill '{ref}' is installed at {source.revision[:12]} ({source.requested}); "
                f"openral rskill install {ref}"
            )
    raise NotFoundError(f"skill '{ref}' is not on this machine; openral rskill install {ref}")


def list_skills(search: Sequence[Path] = ()) -> list[RSkillPackage]:
    """Return all skills that can be loaded, sorted by name; the others are logged."""
    packages = [package for folder in skill_folders(search) if (package := _try_load(folder))]
    return sorted(packages, key=lambda package: package.manifest.name)


def _is_skill(path: Path) -> bool:
    return holds_skill(path) or (path.suffix in (".yaml", ".yml") and os.path.isfile(path))


def _try_load(folder: Path) -> RSkillPackage | None:
    try:
        return load_package(folder)
    except ManifestError as error:
        _log.warning("skill left out: %s", error)
        return None
