"""The error of bags."""

from __future__ import annotations


class BagError(ValueError):
    """There is no bag, or it cannot be read; the text says where and why."""
