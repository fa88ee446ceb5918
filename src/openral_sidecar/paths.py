"""Folders of sidecars on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from openral_core.files.cache import cache_home, make_folder


def environments_folder() -> Path:
    """Return the folder of the built environments, one subfolder each."""
    return cache_home() / "sidecars"


def log_folder() -> Path:
    """Return the folder of the servers' logs, which is created if it is missing."""
    return make_folder(cache_home() / "log", mode=0o700)


def run_folder() -> Path:
    """Return the folder, private to this user, of the identity files and tokens of running servers.

    It is created if it is missing: below `$OPENRAL_CACHE_HOME` if that is set, so that a test or a second installation
    sees only its own servers; else below `$XDG_RUNTIME_DIR`, which a reboot empties; else below the cache.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime) and not os.environ.get("OPENRAL_CACHE_HOME"):
        return make_folder(Path(runtime) / "openral", mode=0o700)
    return make_folder(cache_home() / "run", mode=0o700)
