"""What plug-ins of the command line are checked with and made by."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import Any

from .entry_points import get_first_line_doc, load_entry_points, tell_broken

__all__ = [
    "PLUGIN_SYSTEM_VERSION",
    "PluginException",
    "get_first_line_doc",
    "instantiate_extensions",
    "load_entry_points",
    "order_extensions",
    "order_extensions_by_name",
    "satisfies_version",
]

PLUGIN_SYSTEM_VERSION = "0.1"

_instances: dict[Any, Any] = {}
"""The instance of each class of extensions, which is made once."""


class PluginException(Exception):
    """A plug-in does not fit."""


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


def instantiate_extensions(
    group_name: str, *, exclude_names: Container[str] | None = None, unique_instance: bool = False
) -> dict[str, Any]:
    """Return an instance of each extension of a group, by name; one that fails is told and left out.

    Args:
        group_name: group of entry points.
        exclude_names: entry points that are not imported.
        unique_instance: make new instances, which nobody else has.
    """
    found = {}
    for name, kind in load_entry_points(group_name, exclude_names=exclude_names).items():
        try:
            found[name] = instantiate(kind, unique_instance=unique_instance)
        except (Exception, SystemExit) as error:  # noqa: BLE001  plug-ins of others may raise anything
            tell_broken(group_name, name, error)
    return found


def instantiate(kind: Any, *, unique_instance: bool = False) -> Any:
    """Return the instance of an extension's class."""
    if unique_instance:
        return kind()
    if kind not in _instances:
        _instances[kind] = kind()
    return _instances[kind]


def order_extensions(
    extensions: dict[str, Any], key_function: Callable[[tuple[str, Any]], Any], *, reverse: bool = False
) -> dict[str, Any]:
    """Return the extensions in the order of a key of their pairs of name and instance."""
    return dict(sorted(extensions.items(), key=key_function, reverse=reverse))


def order_extensions_by_name(extensions: dict[str, Any]) -> dict[str, Any]:
    """Return the extensions in the order of their names."""
    return order_extensions(extensions, lambda pair: pair[0])
