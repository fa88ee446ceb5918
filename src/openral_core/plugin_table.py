"""Looks code up by name: a table of built-in names, and entry points of other distributions that add to it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from openral_core.errors import NotFoundError


def plugin_targets(group: str, built_in: Mapping[str, str]) -> dict[str, str]:
    """Return every known name with its `module:attribute`; a built-in name cannot be replaced."""
    return {**{entry.name: entry.value for entry in entry_points(group=group)}, **built_in}


def load_plugin(group: str, built_in: Mapping[str, str], name: str | None) -> Any:
    """Import what `name` stands for.

    Args:
        group: entry-point group that adds names.
        built_in: name -> `module:attribute`, imported only here.
        name: the name asked for.

    Raises:
        NotFoundError: no such name, or its code is not installed; the text lists the names there are.
    """
    targets = plugin_targets(group, built_in)
    target = targets.get(name) if name is not None else None
    if target is None:
        raise NotFoundError(
            f"no {name!r}; known are {', '.join(sorted(targets))}, and distributions may add to them with "
            f"entry points of group {group}"
        )
    try:
        return EntryPoint(name=str(name), value=target, group=group).load()
    except ImportError as error:
        raise NotFoundError(
            f"{name!r} ({target}) could not be imported: {error}; install its dependencies, "
            "e.g. `pip install 'openral[models]'`"
        ) from error
