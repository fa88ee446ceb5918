"""Finds, unpacks or downloads LIBERO's meshes and textures without prompts. An environment variable names a copy:

    OPENRAL_LIBERO_ASSETS=<folder>      a copy of LIBERO's `libero/libero/assets`
    OPENRAL_LIBERO_ASSETS=<file>.tar.xz the same, packed; unpacked once into the cache
    (unset)                             downloaded once from the hub, data set `lerobot/libero-assets`

`python -m openral_sim_bridge.backends.libero.assets` downloads or unpacks them and prints their folder.
"""

from __future__ import annotations

import hashlib
import logging
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from openral_core.errors import HubError, OpenralError, SimulationError
from openral_core.files.cache import cache_home
from openral_core.files.user_path import user_path
from openral_core.schema import inside
from openral_rskill.hub.client import HubClient
from openral_rskill.hub.download import fetch
from openral_rskill.store.repo_id import HubReference
from openral_rskill.store.store_folders import one_at_a_time

VARIABLE = "OPENRAL_LIBERO_ASSETS"
REPOSITORY = "lerobot/libero-assets"
PARTS = (
    "articulated_objects",
    "scenes",
    "stable_hope_objects",
    "stable_scanned_objects",
    "textures",
    "turbosquid_objects",
)
"""The folders of LIBERO's assets."""
_log = logging.getLogger("openral.libero")


def find_assets() -> Path | None:
    """Return the folder of the assets; None if they have yet to be unpacked or downloaded.

    Raises:
        SimulationError: OPENRAL_LIBERO_ASSETS names a missing file, a folder without LIBERO's assets, or one whose
            download was interrupted.
    """
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        return next((folder for folder in sorted(_store().glob("hub-*")) if _is_whole(folder)), None)
    path = user_path(chosen).absolute()
    if path.is_dir():
        missing = [part for part in PARTS if not (path / part).is_dir()]
        if missing:
            raise SimulationError(
                f"{VARIABLE}={chosen} has no folder {missing[0]}; name LIBERO's assets folder"
            )
        if partial := _interrupted_download(path):
            raise SimulationError(
                f"{VARIABLE}={chosen}: its download was interrupted ({partial}); run it again, it goes on where it was"
            )
        return path
    if not path.is_file():
        raise SimulationError(f"{VARIABLE}={chosen}: there is no such folder or file; fix the path")
    folder = _unpacked(path)
    return folder if _is_whole(folder) else None


def ensure_assets(progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder of the assets, after unpacking or downloading them if necessary.

    Args:
        progress: called with one line for each stage.

    Raises:
        SimulationError: OPENRAL_LIBERO_ASSETS names a missing file, or a folder or archive without LIBERO's assets.
        HubError: they could not be downloaded; the text names the variable.
    """
    found = find_assets()
    if found is not None:
        return found
    chosen = os.environ.get(VARIABLE)
    if chosen:
        archive = user_path(chosen).absolute()
        progress(f"unpacking {archive.name}")
        return _unpack(archive, _unpacked(archive))
    try:
        return _fetch(progress)
    except HubError as error:
        raise HubError(f"LIBERO's assets: {error}; or set {VARIABLE} to a copy of them") from error


def _store() -> Path:
    return cache_home() / "libero" / "assets"


def _unpacked(archive: Path) -> Path:
    """Return the folder for the content of an archive, named by a digest of the archive."""
    digest = hashlib.sha256()
    with archive.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return _store() / f"file-{digest.hexdigest()[:16]}"


def _is_whole(folder: Path) -> bool:
    return all((folder / part).is_dir() for part in PARTS)


def _interrupted_download(folder: Path) -> Path | None:
    """Return a file that `hf download` has left in part: beside the folder in the hub's cache, or in a folder in it."""
    places = (folder.parent.parent / "blobs", folder / ".cache" / "huggingface")
    return next((path for place in places for path in sorted(place.rglob("*.incomplete"))), None)


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive beside `folder` and rename the result to it, so that no process sees an incomplete folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
    try:
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(partial, filter="data")
        except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
            why = str(error).splitlines()[0].rstrip(":")
            raise SimulationError(f"{VARIABLE}={archive}: {why}; name a tar.xz of LIBERO's assets") from error
        inner = next((path for path in (partial, *sorted(partial.iterdir())) if _is_whole(path)), None)
        if inner is None:
            raise SimulationError(
                f"{VARIABLE}={archive}: there are no LIBERO assets in it; pack the folder `assets`"
            )
        try:
            inner.rename(folder)
        except OSError:
            if not _is_whole(folder):  # unless another process has made it meanwhile
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _fetch(progress: Callable[[str], None]) -> Path:
    """Download the data set's present commit, resuming an interrupted download, and return its folder."""
    with one_at_a_time(f"files {REPOSITORY}"):
        client = HubClient()
        listing = client.listing(HubReference(REPOSITORY, dataset=True))
        folder = _store() / f"hub-{listing.reference.revision[:16]}"
        if folder.is_dir():  # made by another process that held the lock
            return folder
        partial = folder.with_name(f".{folder.name}")
        for number, file in enumerate(listing.files, start=1):
            target = inside(partial, file.path)
            if target is None:
                raise HubError(
                    f"{listing.reference}: {file.path!r} leaves its folder; the data set is broken"
                )
            if not target.is_file():  # only complete files have their names
                progress(f"fetching LIBERO's assets: {file.path}, {number} of {len(listing.files)}")
                fetch(client, listing.reference, file, target, lambda name, done, total: None)
        missing = [part for part in PARTS if not (partial / part).is_dir()]
        if missing:
            raise HubError(f"{listing.reference} has no folder {missing[0]}")
        partial.rename(folder)
    return folder


def main() -> int:
    """Download or unpack the assets; return the exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        _log.info("LIBERO's assets are in %s", ensure_assets(_log.info))
    except OpenralError as error:
        _log.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
