"""The prefixes that are searched."""

from __future__ import annotations

from ros2_embedded.packages import prefixes


def get_search_paths() -> list[str]:
    """Return the prefixes in order of precedence: those of AMENT_PREFIX_PATH, then the interpreter's own."""
    return [str(prefix) for prefix in prefixes()]
