"""Download of a skill's weights from the hub, pinned to a commit and verified by hashes."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from openral_core.errors import HubError, WeightsError
from openral_core.schema import inside
from openral_rskill.hub.client import HubClient, HubFile, Listing
from openral_rskill.hub.download import PARTIAL, Progress, fetch
from openral_rskill.license import ORIGIN_FILE
from openral_rskill.registry import RSkillPackage
from openral_rskill.store.lockfile import LockedFile, LockedRepository, SkillLock, faults
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.store.store_folders import one_at_a_time, snapshot
from openral_rskill.weights_files import select


def fetch_weights(
    package: RSkillPackage, lock: SkillLock, client: HubClient, progress: Progress
) -> SkillLock:
    """Download the missing files of a skill's weights and processors; return the completed lock.

    Call it only after the licence gate has passed, and within `repositories_locked`. Raises HubError and WeightsError
    as `openral_rskill.hub.install.install` does.
    """
    manifest = package.manifest
    wanted = HubReference.parse(str(manifest.weights_uri))
    weights = _repository(wanted, None, lock.weights, client, progress)
    extra = []
    for repository, names in _processor_files(package).items():
        if repository == wanted.repository:
            missing = sorted(set(names) - set(weights.files))
            if missing:
                raise HubError(f"{wanted}: there is no {missing[0]}, which the manifest names in processors")
            continue
        before = next((locked for locked in lock.extra if locked.repository == repository), None)
        extra.append(_repository(HubReference(repository), names, before, client, progress))
    return lock.model_copy(update={"weights": weights, "extra": tuple(extra)})


@contextlib.contextmanager
def repositories_locked(package: RSkillPackage) -> Iterator[None]:
    """Lock the snapshots of a skill's weights and processors inside the block; other processes wait.

    The block ends after the skill's lock was written: until then no lock names the snapshots, and `remove` of another
    skill would take them for unused.
    """
    uri = package.manifest.weights_uri or ""
    wanted = (
        {HubReference.parse(uri).repository, *_processor_files(package)} if uri.startswith(HUB) else set()
    )
    with contextlib.ExitStack() as held:
        for repository in sorted(wanted):  # in order, so that no two processes wait for each other
            held.enter_context(one_at_a_time(f"files {repository}"))
        yield


def complete(
    listing: Listing,
    names: Sequence[str],
    folder: Path,
    before: LockedRepository | None,
    client: HubClient,
    progress: Progress,
) -> dict[str, LockedFile]:
    """Download those of the named files that are missing or altered in a folder; return all of them with their hashes.

    Raises:
        HubError: a file differs from its hash or its path leaves the folder, or there is not enough space.
    """
    by_name = {file.path: file for file in listing.files}
    if absent := sorted(set(names) - set(by_name)):
        raise HubError(
            f"{listing.reference}: there is no {absent[0]} in it, which the lock lists; ask who wrote it"
        )
    known = before.files if before and before.revision == listing.reference.revision else {}
    todo = [by_name[name] for name in names if not _is_there(folder, name, known.get(name))]
    _require_space(folder, todo)
    files = {name: known[name] for name in names if name in known}
    for file in todo:
        target = inside(folder, file.path)
        if target is None:
            raise HubError(f"{listing.reference}: {file.path!r} leaves its folder; the repository is broken")
        digest = fetch(client, listing.reference, file, target, progress)
        if file.path in known and known[file.path].sha256 != digest:
            target.unlink()
            raise HubError(
                f"{listing.reference}: {file.path} is another file than the lock says; ask who wrote it"
            )
        files[file.path] = LockedFile(size=target.stat().st_size, sha256=digest)
    return dict(sorted(files.items()))


def _repository(
    wanted: HubReference,
    names: Sequence[str] | None,
    before: LockedRepository | None,
    client: HubClient,
    progress: Progress,
) -> LockedRepository:
    """Complete the snapshot of one repository and return its lock; `names` None: all files of a checkpoint."""
    if before is None or before.repository != wanted.repository:
        return _fetch(wanted, names, None, client, progress)
    if wanted.revision not in (before.requested, before.revision):
        return _fetch(wanted, names, None, client, progress)
    if any(faults(before.files, snapshot(before.reference), hashes=True)):
        return _fetch(wanted, names, before, client, progress)
    return before


def _fetch(
    wanted: HubReference,
    names: Sequence[str] | None,
    before: LockedRepository | None,
    client: HubClient,
    progress: Progress,
) -> LockedRepository:
    """Download a repository at the commit of the lock, or without one at the present commit of its revision."""
    listing = client.listing(before.reference if before else wanted)
    try:
        chosen = list(names) if names is not None else select([file.path for file in listing.files])
    except WeightsError as error:
        raise WeightsError(f"{wanted}: {error}") from None
    absent = sorted(set(chosen) - {file.path for file in listing.files})
    if absent:
        raise HubError(f"{wanted}: there is no {absent[0]} in it; fix the manifest")
    folder = snapshot(listing.reference)
    folder.mkdir(parents=True, exist_ok=True)
    origin = {"repository": wanted.repository, "revision": listing.reference.revision}
    (folder / ORIGIN_FILE).write_text(json.dumps(origin) + "\n", encoding="utf-8")
    files = complete(listing, chosen, folder, before, client, progress)
    return LockedRepository(
        repository=wanted.repository,
        requested=wanted.revision,
        revision=listing.reference.revision,
        files=files,
    )


def _is_there(folder: Path, name: str, locked: LockedFile | None) -> bool:
    """Return whether a file agrees with its lock; an altered one is deleted, so that it is downloaded again."""
    path = inside(folder, name)
    if locked is None or path is None or not path.is_file():
        return False
    if any(faults({name: locked}, folder, hashes=True)):
        path.unlink()
        return False
    return True


def _processor_files(package: RSkillPackage) -> dict[str, list[str]]:
    """Return repository -> paths of the files that the manifest names in `processors`."""
    processors = package.manifest.processors
    found: dict[str, list[str]] = {}
    for uri in (processors.preprocessor_uri, processors.postprocessor_uri) if processors else ():
        if uri.startswith(HUB):
            owner, name, path = uri.removeprefix(HUB).split("/", 2)
            found.setdefault(f"{owner}/{name}", []).append(path)
    return found


def _require_space(folder: Path, todo: Sequence[HubFile]) -> None:
    """Raise HubError if the disk has not enough free space for the files, less their partial downloads."""
    needed = 0
    for file in todo:
        part = folder / f"{file.path}{PARTIAL}"
        needed += max(file.size, 0) - (part.stat().st_size if part.is_file() else 0)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise HubError(
            f"{folder}: {needed / 1e9:.1f} GB are to be fetched, {free / 1e9:.1f} GB are free; "
            "free some space, or set OPENRAL_CACHE_HOME to another disk"
        )
