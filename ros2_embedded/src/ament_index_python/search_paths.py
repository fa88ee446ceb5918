"""The prefixes that are searched."""

from __future__ import annotations

import os
import sys

from ros2_embedded.environment import announce

from .constants import AMENT_PREFIX_PATH_ENV_VAR

__all__ = ["AMENT_PREFIX_PATH_ENV_VAR", "get_search_paths", "names_the_interpreter"]

announce()  # the interpreter's own prefix stands in the variable, as if its setup file had been sourced


def get_search_paths() -> list[str]:
    """Return the prefixes that AMENT_PREFIX_PATH lists and that exist, most important first.

    The interpreter's own prefix was added at its end when this module was imported.

    Raises:
        OSError: a program has emptied the variable since.
    """
    listed = os.environ.get(AMENT_PREFIX_PATH_ENV_VAR, "")
    if not listed:
        raise OSError(f"Environment variable '{AMENT_PREFIX_PATH_ENV_VAR}' is not set or empty")
    return [path for path in listed.split(os.pathsep) if path and os.path.exists(path)]


def names_the_interpreter() -> bool:
    """Return whether the interpreter's own prefix, with what pip installed, is among the search paths."""
    return sys.prefix in get_search_paths()
