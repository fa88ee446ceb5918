"""Name of the user who runs this process, by which others are told who did something."""

from __future__ import annotations

import getpass
import os


def operator_name() -> str:
    """Return the name of this process's user; `uid 1234` where the system knows no name, as in many containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
