"""Paths that people write with `~`."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(text: str | Path) -> Path:
    """Return a path with `~` or `~name` at its begin as that home; a `~name` that nobody has stays, as in a shell.

    `Path.expanduser` raises a RuntimeError there.
    """
    return Path(os.path.expanduser(text))
