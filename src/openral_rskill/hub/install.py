"""Installation of a skill: first the manifest, then the licence gate, then the weights, all pinned and hashed."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from openral_core.errors import HubError, NotFoundError, WeightsError
from openral_core.files.yaml_document import read_document
from openral_core.manifest import MANIFEST_NAME
from openral_core.manifest.family_rules import server_elsewhere
from openral_core.manifest.runtime import LOCAL
from openral_core.schema import inside
from openral_rskill.hub.checkpoint import complete, fetch_weights, repositories_locked
from openral_rskill.hub.client import HubClient, HubFile, Listing
from openral_rskill.hub.download import Progress, check_file, fetch
from openral_rskill.measured_results import is_measured
from openral_rskill.registry import RSkillPackage, load_package, resolve
from openral_rskill.store.lockfile import (
    LOCK_NAME,
    LockedFile,
    LockedRepository,
    SkillLock,
    faults,
    load_lock,
    sha256_of,
)
from openral_rskill.store.repo_id import HUB, HubReference
from openral_rskill.store.skill_files import is_small
from openral_rskill.store.store_folders import (
    find_lock,
    holds_skill,
    one_at_a_time,
    skill_folder,
    staging_folder,
)
from openral_rskill.weights_files import select

MAX_SMALL = 1024 * 1024
"""[byte] largest size of a manifest, README, configuration or evaluation."""


@dataclass(frozen=True)
class Installed:
    """A skill with all of its files on this machine."""

    package: RSkillPackage
    lock: SkillLock
    """The pinned repositories; none for a local skill whose weights are in its own folder."""


def install(
    ref: str,
    *,
    search: Sequence[Path] = (),
    accept_noncommercial: bool | None = None,
    update: bool = False,
    client: HubClient | None = None,
    progress: Progress = lambda name, done, total: None,
) -> Installed:
    """Download the missing files of a skill, and write its `rskill.lock`.

    An installed skill is completed at the commit of its lock, and the hashes of its weights are compared; the network
    is used only if something is missing. Small files that were altered stay, as they may hold results of this machine.

    Args:
        ref: any reference that `openral_rskill.registry.resolve` takes, or a repository on the hub.
        search: see `resolve`.
        accept_noncommercial: see `openral_rskill.license.check_license`.
        update: whether the lock is ignored and the present commits are pinned.
        client: of the hub; None: one for the hub of the environment.
        progress: called during each download; see `Progress`.

    Raises:
        LicenseError: the licence gate refuses; nothing of the weights was downloaded.
        HubError: a request to the hub failed.
        NotFoundError: there is no such skill.
        ManifestError: its manifest is wrong.
        WeightsError: its weights are pickles, altered, or incomplete.
    """
    client = client or HubClient()
    package = replace(
        _manifest(ref, search, update, client, progress), accept_noncommercial=accept_noncommercial
    )
    package.require_license()
    name = package.manifest.name
    if update and (package.folder / LOCK_NAME).is_file() and package.folder != skill_folder(name):
        raise HubError(f"{package.folder / LOCK_NAME} pins this skill; remove it to take what is new")
    with one_at_a_time(name), repositories_locked(package):
        if not holds_skill(package.folder):
            raise HubError(f"{name}: was removed while it was being installed; install it again")
        lock = (None if update else find_lock(name, package.folder)) or SkillLock(skill=name)
        source = (load_lock(package.folder) or lock).manifest
        if source is not None and package.folder == skill_folder(name):
            missing = [file for file in source.files if not os.path.lexists(package.folder / file)]
            if small := [file for file in missing if is_small(file)]:
                complete(client.listing(source.reference), small, package.folder, source, client, progress)
        if (package.manifest.weights_uri or "").startswith(LOCAL):
            # Without a lock of its own, a folder elsewhere has weights of its own, whatever was fetched for its name.
            if source is not None and (package.folder / LOCK_NAME).is_file():
                _require_own_weights_kept(package, source)
                source = _weights_beside(package, source, client, progress)
                lock = lock.model_copy(update={"manifest": source})
        elif package.manifest.weights_uri is not None:
            lock = fetch_weights(package, lock, client, progress)
            lock = lock.model_copy(update={"manifest": source})
        else:
            lock = lock.model_copy(update={"manifest": source})
        if (lock.manifest, lock.weights) != (None, None):
            skill_folder(name).mkdir(parents=True, exist_ok=True)
            lock.write(skill_folder(name))
    if package.manifest.weights_uri is not None:
        package.checkpoint()
    return Installed(package, lock)


def ready(
    ref: str,
    *,
    search: Sequence[Path] = (),
    accept_noncommercial: bool | None = None,
    progress: Progress = lambda name, done, total: None,
) -> RSkillPackage:
    """Return a skill that can be loaded, after the licence gate, and after downloading its missing files.

    No weights are downloaded for a family whose server was started separately. Raises as `install` does.
    """
    try:
        package = replace(resolve(ref, search), accept_noncommercial=accept_noncommercial)
    except NotFoundError:
        package = install(ref, accept_noncommercial=accept_noncommercial, progress=progress).package
    package.require_license()
    is_far = (package.manifest.weights_uri or "").startswith(HUB) and package.locked_weights() is None
    if is_far and server_elsewhere(package.manifest.model_family) is None:
        return install(
            ref, search=search, accept_noncommercial=accept_noncommercial, progress=progress
        ).package
    return package


def _manifest(
    ref: str, search: Sequence[Path], update: bool, client: HubClient, progress: Progress
) -> RSkillPackage:
    """Return the skill from this machine, or else after downloading its manifest."""
    try:
        package = resolve(ref, search)
    except NotFoundError as error:
        try:
            wanted = HubReference.parse(ref)
        except NotFoundError:
            raise error from None
        return _fetch_manifest(wanted, client, progress)
    lock = load_lock(package.folder)
    if update and lock is not None and lock.manifest is not None:
        wanted = HubReference(lock.manifest.repository, lock.manifest.requested)
        return _fetch_manifest(HubReference.parse(ref) if ref.startswith(HUB) else wanted, client, progress)
    return package


def _fetch_manifest(wanted: HubReference, client: HubClient, progress: Progress) -> RSkillPackage:
    """Download manifest, README, licence, evaluations, calibration and playbook of a repository; return the skill."""
    listing = client.listing(wanted)
    small = [file for file in listing.files if is_small(file.path)]
    if MANIFEST_NAME not in [file.path for file in small]:
        raise HubError(
            f"{wanted}: there is no {MANIFEST_NAME} in it; "
            f"for a checkpoint: openral rskill new {HUB}{wanted.repository}"
        )
    with contextlib.ExitStack() as held:
        held.enter_context(one_at_a_time(wanted.repository))
        staging = staging_folder(wanted.repository)
        shutil.rmtree(staging, ignore_errors=True)
        files: dict[str, LockedFile] = {}

        def take(file: HubFile) -> None:
            require_small(wanted, file)
            digest = fetch(client, listing.reference, file, staging / file.path, progress)
            files[file.path] = LockedFile(size=(staging / file.path).stat().st_size, sha256=digest)

        for file in small:
            take(file)
        text = _playbook_text(staging)
        for file in listing.files:
            if file.path == text and text not in files:
                take(file)
        name = load_package(staging).manifest.name
        if name.lower() != wanted.repository.lower():
            raise HubError(f"{wanted}: its manifest calls itself {name}; a fork must write its own name")
        if name != wanted.repository:  # a hub takes no notice of capital letters, and folders have one name
            held.enter_context(one_at_a_time(name))
        target, revision = skill_folder(name), listing.reference.revision
        before = load_lock(target)
        _keep_own_results(target, before, files)
        if before is None or before.manifest is None or before.manifest.revision != revision:
            _delete_other(target, before, listing)
            before = SkillLock(skill=name)  # whose weights are pinned anew
        _move_into(staging, target, files)
        locked = LockedRepository(repository=name, requested=wanted.revision, revision=revision, files=files)
        before.model_copy(update={"skill": name, "manifest": locked}).write(target)
    return load_package(target)


def require_small(reference: HubReference, file: HubFile) -> None:
    """Raise HubError for a file that is too large for a manifest, configuration or text."""
    if file.size > MAX_SMALL:
        raise HubError(
            f"{reference}: {file.path} has {file.size} bytes, more than {MAX_SMALL}; ask its owner"
        )


def _playbook_text(folder: Path) -> str | None:
    """Return the path of the text that the manifest in a folder names; None: it is no playbook, or its path leaves."""
    playbook = read_document(folder / MANIFEST_NAME).section("playbook").data
    uri = playbook.get("body_uri") if isinstance(playbook, dict) else None
    if not (isinstance(uri, str) and uri.startswith(LOCAL) and inside(folder, uri.removeprefix(LOCAL))):
        return None
    return str(PurePosixPath(uri.removeprefix(LOCAL)))


def _require_own_weights_kept(package: RSkillPackage, source: LockedRepository) -> None:
    """Raise WeightsError for weights in a folder of the user's own that are not those of its lock.

    Such as of a copy of an installed skill in which somebody trained on; those in the cache are fetched anew.
    """
    if package.folder.resolve() == skill_folder(package.manifest.name).resolve():
        return
    there = {
        name: entry
        for name, entry in source.files.items()
        if not is_small(name) and (package.folder / name).is_file()
    }
    for fault in faults(there, package.folder, hashes=True):
        raise WeightsError(
            f"{package.folder}: {fault}; if they are your own, remove {LOCK_NAME}, else remove the file"
        )


def _weights_beside(
    package: RSkillPackage, source: LockedRepository, client: HubClient, progress: Progress
) -> LockedRepository:
    """Download the weights that are in the same repository as the manifest."""
    listing = client.listing(source.reference) if not _is_whole(package, source) else None
    if listing is None:
        return source
    names = [name for name in select([file.path for file in listing.files]) if not is_small(name)]
    small = {name: entry for name, entry in source.files.items() if is_small(name)}
    files = complete(listing, names, package.folder, source, client, progress)
    return source.model_copy(update={"files": {**small, **files}})


def _is_whole(package: RSkillPackage, source: LockedRepository) -> bool:
    weights = {name: entry for name, entry in source.files.items() if not is_small(name)}
    return bool(weights) and not any(faults(weights, package.folder, hashes=True))


def _keep_own_results(target: Path, before: SkillLock | None, files: Mapping[str, LockedFile]) -> None:
    """Rename the results in eval/ that were measured here and that files of the hub are about to replace."""
    fetched = before.manifest.files if before and before.manifest else {}
    for name in files:
        path = target / name
        is_fetched = name in fetched and not any(faults({name: fetched[name]}, target, hashes=True))
        if PurePosixPath(name).parts[0] == "eval" and not is_fetched and is_measured(path):
            path.replace(path.with_name(f"{path.stem}.own-{sha256_of(path)[:8]}.json"))


def _move_into(staging: Path, target: Path, files: Mapping[str, LockedFile]) -> None:
    """Replace the small files of an installed skill; weights beside them stay and are verified later."""
    for name in files:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / name, target / name)
    shutil.rmtree(staging)


def _delete_other(target: Path, before: SkillLock | None, listing: Listing) -> None:
    """Delete what an earlier commit of the skill's repository had and this one has not, or has with other bytes.

    Left beside the new manifest, weights, calibration and evaluations of the earlier one would count as its own, also
    where the new weights cannot be fetched.
    """
    there = {file.path: file for file in listing.files}
    for name in before.manifest.files if before and before.manifest else ():
        path, file = inside(target, name), there.get(name)
        if path is None or not path.is_file() or (file is not None and is_small(name)):
            continue  # small files are replaced
        is_known = file is not None and (file.sha256 or file.git_sha1)
        if file is None or not is_known or check_file(path, file) is None:
            path.unlink()
