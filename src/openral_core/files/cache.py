"""The folder of this user's files that outlive a process: skills, environments, logs, rollouts."""

from __future__ import annotations

import os
from pathlib import Path

from openral_core.errors import OutputError
from openral_core.files.user_path import user_path


def cache_home() -> Path:
    """Return `$OPENRAL_CACHE_HOME`, or `~/.cache/openral`."""
    chosen = os.environ.get("OPENRAL_CACHE_HOME")
    return user_path(chosen).absolute() if chosen else Path.home() / ".cache" / "openral"


def make_folder(folder: Path, mode: int = 0o777) -> Path:
    """Return a folder of the cache, made if need be with these permissions.

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
