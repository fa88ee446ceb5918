"""What plug-ins of the command line are checked with; see `ros2cli.plugins` for how they are found here."""

from __future__ import annotations

import inspect
import re
from importlib.metadata import entry_points
from typing import Any

PLUGIN_SYSTEM_VERSION = "0.1"


class PluginException(Exception):
    """A plug-in does not fit."""


def get_first_line_doc(any_type: Any) -> str:
    """Return the first line of the documentation without its period."""
    return (inspect.getdoc(any_type) or "").strip().partition("\n")[0].removesuffix(".")


def satisfies_version(version: str, caret_range: str) -> None:
    """Check that a version lies in a range such as `^0.1`.

    Raises:
        PluginException: it does not.
    """
    wanted = re.fullmatch(r"\^(\d+)\.(\d+)", caret_range)
    found = re.match(r"(\d+)\.(\d+)", version)
    if wanted is None or found is None:
        raise PluginException(f"a version range must have the form '^1.2', not '{caret_range}'")
    (major, minor), (own_major, own_minor) = map(int, wanted.groups()), map(int, found.groups())
    fits = own_major == major and own_minor >= minor and (major > 0 or own_minor == minor)
    if not fits:
        raise PluginException(f"version {version} does not satisfy '{caret_range}'")


def load_entry_points(group_name: str) -> dict[str, Any]:
    """Return what the entry points of a group name, by their names."""
    return {point.name: point.load() for point in entry_points(group=group_name)}


def instantiate_extensions(
    group_name: str, *, exclude_names: set[str] | None = None, unique_instance: bool = False
) -> dict[str, Any]:
    """Return an instance of each extension of a group, by name."""
    found = {}
    for name, extension_class in load_entry_points(group_name).items():
        if name not in (exclude_names or set()):
            extension = extension_class()
            extension.NAME = name
            found[name] = extension
    return found
