"""Lookup of code by name in a table of built-in names and in the entry points of other distributions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from openral_core.errors import NotFoundError
from openral_core.process.collector import uncollected_imports


def plugin_targets(group: str, built_in: Mapping[str, str]) -> dict[str, str]:
    """Return the `module:attribute` of every known name; entry points cannot replace a built-in name."""
    return {**{entry.name: entry.value for entry in entry_points(group=group)}, **built_in}


def load_plugin(group: str, built_in: Mapping[str, str], name: str | None) -> Any:
    """Import and return the object of a name.

    Args:
        group: entry-point group that adds names.
        built_in: name -> `module:attribute`, which is imported by this call only.
        name: the wanted name.

    Raises:
        NotFoundError: no such name (the text lists those that there are), or its code is not installed or broken.
    """
    targets = plugin_targets(group, built_in)
    target = targets.get(name) if name is not None else None
    if target is None:
        raise NotFoundError(
            f"no {name!r}; known are {', '.join(sorted(targets))}, and distributions may add to them with "
            f"entry points of group {group}"
        )
    try:
        with uncollected_imports():
            return EntryPoint(name=str(name), value=target, group=group).load()
    except ImportError as error:
        raise NotFoundError(
            f"{name!r} ({target}) could not be imported: {error}; install its dependencies, "
            "e.g. `pip install 'openral[models]'`"
        ) from error
    except Exception as error:  # whatever the module of another distribution raises
        if name in built_in and not isinstance(error, AttributeError):
            raise
        raise NotFoundError(
            f"{name!r} ({target}) cannot be loaded: {type(error).__name__}: {error}; "
            "install another version of what brings it, or remove that"
        ) from error
