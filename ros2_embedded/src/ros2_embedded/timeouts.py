"""Times to wait."""

from __future__ import annotations

import threading


def finite(timeout_s: float | None) -> float | None:
    """A timeout [s] as the functions of Python take it: None for one that is longer than they know."""
    return None if timeout_s is None or timeout_s > threading.TIMEOUT_MAX else timeout_s
