"""The prefixes that are searched."""

from __future__ import annotations

from ros2_embedded.packages import prefixes

from .constants import AMENT_PREFIX_PATH_ENV_VAR

__all__ = ["AMENT_PREFIX_PATH_ENV_VAR", "get_search_paths"]


def get_search_paths() -> list[str]:
    """Return the prefixes in order of precedence: those of AMENT_PREFIX_PATH, then the interpreter's own."""
    return [str(prefix) for prefix in prefixes()]
