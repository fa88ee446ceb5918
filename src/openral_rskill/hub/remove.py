"""Removal of the downloaded files of a skill."""

from __future__ import annotations

import shutil
from pathlib import Path

from openral_core.errors import NotFoundError
from openral_rskill.registry import resolve
from openral_rskill.store.lockfile import load_lock
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.store.store_folders import one_at_a_time, skill_folder, snapshots, used_snapshots


def remove(ref: str) -> list[Path]:
    """Delete what was fetched for a skill, and the weights that no other skill needs; return the folders.

    A folder of the user's own and the skills that come with openral stay.

    Raises:
        NotFoundError: no files of that skill were downloaded.
    """
    package = resolve(ref)
    folder = skill_folder(package.manifest.name)
    with one_at_a_time(package.manifest.name):
        lock = load_lock(folder)
        if lock is None:
            raise NotFoundError(
                f"nothing was fetched for {package.manifest.name}; {package.folder} stays as it is"
            )
        repositories = {locked.repository for locked in (lock.weights, *lock.extra) if locked}
        if (uri := package.manifest.weights_uri or "").startswith(HUB):  # also where their download broke off
            repositories.add(HubReference.parse(uri).repository)
        shutil.rmtree(folder)
        gone = [folder]
        for repository in sorted(repositories):
            with one_at_a_time(f"files {repository}"):  # whoever installs them has written its lock then
                gone += _delete_unused(snapshots(repository))
    return gone


def _delete_unused(root: Path) -> list[Path]:
    """Delete the snapshots of a repository that no skill needs; return their folders."""
    used = used_snapshots()
    unused = [old for old in sorted(root.iterdir()) if old not in used] if root.is_dir() else []
    for old in unused:
        shutil.rmtree(old)
    return unused
