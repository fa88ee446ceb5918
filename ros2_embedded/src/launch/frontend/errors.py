"""The error of front ends."""

from __future__ import annotations

from ..invalid_launch_file_error import InvalidLaunchFileError


class InvalidFrontendLaunchFileError(InvalidLaunchFileError):
    """A launch file in markup is not well formed, or holds what no action is known for."""
