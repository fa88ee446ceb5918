"""Units of time."""

from __future__ import annotations

S_TO_NS = 1_000_000_000
