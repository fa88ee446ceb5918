"""`rskill.lock`: which commit a skill's files came from, and the hash of each of them.

JSON, written by `openral rskill install` into the cache. A copy of it beside a manifest pins the skill for everybody
who uses that folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openral_core.files.atomic import write_atomically
from openral_core.files.yaml_document import read_document
from openral_core.manifest.runtime import HUB_WORD
from openral_core.schema import Schema, Word, inside, validate
from openral_rskill.store.repo_id import HubReference

LOCK_NAME = "rskill.lock"
_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_CHUNK = 1024 * 1024


class LockedFile(Schema):
    """One file as it was fetched."""

    size: Annotated[int, Field(ge=0)]
    """[byte]"""
    sha256: _Sha256


class LockedRepository(Schema):
    """A repository at one commit."""

    repository: Annotated[str, StringConstraints(pattern=rf"^{HUB_WORD}/{HUB_WORD}$", max_length=300)]
    """owner/name"""
    requested: Word
    """Branch, tag or commit that was asked for."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    """The commit it meant."""
    files: dict[Word, LockedFile]
    """Path in the repository -> what was there."""

    @property
    def reference(self) -> HubReference:
        """The repository at its commit."""
        return HubReference(self.repository, self.revision)


class SkillLock(Schema):
    """All that was fetched for one skill."""

    schema_version: Literal["0.1"] = "0.1"
    skill: Word
    """Name of the skill."""
    manifest: LockedRepository | None = None
    """Where the manifest came from; absent for one that was on this machine."""
    weights: LockedRepository | None = None
    """Where the weights came from; absent where they lie with the manifest, or there are none."""
    extra: Annotated[tuple[LockedRepository, ...], Field(strict=False)] = ()
    """Further repositories, such as that of the processor files."""

    def write(self, folder: Path) -> None:
        """Write the lock into a folder atomically, since other processes read it without locking."""
        text = self.model_dump_json(indent=2, exclude_defaults=False)
        write_atomically(folder / LOCK_NAME, text + "\n", durable=True)


def load_lock(folder: Path) -> SkillLock | None:
    """Return the lock in a folder, or None where there is none.

    Raises:
        ManifestError: it is there, and it is wrong.
    """
    path = folder / LOCK_NAME
    return validate(SkillLock, read_document(path)) if path.is_file() else None


def faults(files: Mapping[str, LockedFile], folder: Path, *, hashes: bool) -> Iterator[str]:
    """Compare the files in a folder with the lock; one line a fault.

    Args:
        files: what was fetched.
        folder: where it lies.
        hashes: read every byte, too; else only sizes are compared.
    """
    for name, entry in files.items():
        path = inside(folder, name)
        if path is None or not path.is_file():
            yield f"{name} is not there"
        elif path.stat().st_size != entry.size:
            yield f"{name} has {path.stat().st_size} bytes, the lock says {entry.size}"
        elif hashes and sha256_of(path) != entry.sha256:
            yield f"{name} does not fit the hash in the lock"


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()
