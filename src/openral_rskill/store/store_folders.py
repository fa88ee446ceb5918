"""The folders of downloaded skills and weights on this machine.

<cache>/rskills/skills/<owner>--<name>/         rskill.yaml, README.md, eval/, rskill.lock
<cache>/rskills/files/<owner>--<name>/<commit>/ files of a repository of weights, shared by the skills that use it
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from openral_core.files.cache import cache_home, make_folder
from openral_core.files.share import share_directory
from openral_core.manifest import MANIFEST_NAME
from openral_rskill.store.lockfile import SkillLock, load_lock
from openral_rskill.store.repo_id import HubReference


def installed_skills() -> Path:
    """Return the folder that contains a folder for each downloaded skill."""
    return cache_home() / "rskills" / "skills"


def skill_folder(name: str) -> Path:
    """Return the folder of a fetched skill, by its name `owner/name`."""
    return installed_skills() / _folder_name(name)


def staging_folder(name: str) -> Path:
    """Return the folder for the small files of a skill until they have passed the gates."""
    return cache_home() / "rskills" / "staging" / _folder_name(name)


def snapshots(repository: str) -> Path:
    """Return the folder that contains a folder for each commit of a repository."""
    return cache_home() / "rskills" / "files" / _folder_name(repository)


def snapshot(reference: HubReference) -> Path:
    """Return the folder of a repository at its commit."""
    return snapshots(reference.repository) / reference.revision


def find_lock(name: str, folder: Path) -> SkillLock | None:
    """Return the lock of a skill: the one beside its manifest, else the one in the cache.

    Raises:
        ManifestError: a lock is there, and it is wrong.
    """
    return load_lock(folder) or load_lock(skill_folder(name))


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Lock the store for one name inside the block; other processes wait. The lock is freed when the process ends."""
    folder = make_folder(cache_home() / "rskills" / "locks")
    with (folder / _folder_name(name)).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def used_snapshots() -> set[Path]:
    """Return the folders of weights that some fetched skill needs."""
    used: set[Path] = set()
    root = installed_skills()
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        lock = load_lock(folder) if os.path.isdir(folder) else None
        for locked in (lock.weights, *lock.extra) if lock else ():
            if locked is not None:
                used.add(snapshot(locked.reference))
    return used


def skill_folders(search: Sequence[Path] = ()) -> list[Path]:
    """Return the folders that hold an `rskill.yaml`: those of `search`, openral's own, those of the cache."""
    roots = [*search, share_directory() / "rskills", installed_skills()]
    return [
        folder for root in roots if root.is_dir() for folder in sorted(root.iterdir()) if holds_skill(folder)
    ]


def holds_skill(folder: Path) -> bool:
    """Whether a folder has an `rskill.yaml`; False for names that no file system takes, where Path would raise."""
    return os.path.isfile(folder / MANIFEST_NAME)


def _folder_name(name: str) -> str:
    """Return owner/name as one name of a folder: owner--name."""
    return name.replace("/", "--")
