"""The error for a launch file that cannot be loaded."""

from __future__ import annotations


class InvalidLaunchFileError(Exception):
    """A launch file could not be read, parsed or executed; the text says which file and why."""
