"""Waiting for the end of a process that was told to end."""

from __future__ import annotations

import subprocess
from typing import Any


def wait_or_kill(process: subprocess.Popen[Any], patience_s: float) -> None:
    """Wait until a process that was told to end has ended; kill it after `patience_s` [s]."""
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
