"""Where files that outlive a process are kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from openral_core.errors import OutputError


def cache_home() -> Path:
    """Return `$OPENRAL_CACHE_HOME`, or `~/.cache/openral`."""
    chosen = os.environ.get("OPENRAL_CACHE_HOME")
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / ".cache" / "openral"


def environments_folder() -> Path:
    """Return the folder of the built environments, one subfolder each."""
    return cache_home() / "sidecars"


def log_folder() -> Path:
    """Return the folder of the servers' logs, made if need be."""
    return made(cache_home() / "log", mode=0o700)


def run_folder() -> Path:
    """Return the folder of the identity files and tokens of running servers, made if need be, ours alone.

    It is below `$OPENRAL_CACHE_HOME` where that is set, so that a test or a second installation sees only its own
    servers; else below `$XDG_RUNTIME_DIR`, which a reboot empties; else below the cache.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime) and not os.environ.get("OPENRAL_CACHE_HOME"):
        return made(Path(runtime) / "openral", mode=0o700)
    return made(cache_home() / "run", mode=0o700)


def made(folder: Path, mode: int = 0o777) -> Path:
    """Return a folder for files that outlive a process, made if need be.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: {error.strerror}; set OPENRAL_CACHE_HOME to a folder that you may write"
        ) from error
    return folder
