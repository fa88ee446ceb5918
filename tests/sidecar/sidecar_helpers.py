"""What the tests of sidecars share."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil

PATIENCE_S = 120.0
PROGRAM = Path(__file__).with_name("sidecar_echo.py")


def wait_for(condition: Callable[[], object], what: str) -> object:
    """Return the first true value of `condition`."""
    until = time.monotonic() + PATIENCE_S
    while not (value := condition()):
        assert time.monotonic() < until, f"waited {PATIENCE_S:g} s for {what}"
        time.sleep(0.02)
    return value


def running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
