"""Where sidecars keep their files on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """Return `$OPENRAL_CACHE_HOME`, or `~/.cache/openral`."""
    chosen = os.environ.get("OPENRAL_CACHE_HOME")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".cache" / "openral"


def environments_folder() -> Path:
    """Return the folder of the built environments, one subfolder each."""
    return cache_home() / "sidecars"


def log_folder() -> Path:
    """Return the folder of the servers' logs, made if need be."""
    return _private(cache_home() / "log")


def run_folder() -> Path:
    """Return the folder of the identity files and tokens of running servers, made if need be, ours alone.

    It is below `$OPENRAL_CACHE_HOME` where that is set, so that a test or a second installation sees only its own
    servers; else below `$XDG_RUNTIME_DIR`, which a reboot empties; else below the cache.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime) and not os.environ.get("OPENRAL_CACHE_HOME"):
        return _private(Path(runtime) / "openral")
    return _private(cache_home() / "run")


def _private(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
