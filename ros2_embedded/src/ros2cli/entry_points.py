"""The entry points of installed packages, found without importing what they name.

All groups come from one look through `sys.path`, which reads the metadata of every distribution once.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from itertools import chain
from typing import Any

EXTENSION_POINT_GROUP_NAME = "ros2cli.extension_point"
"""The group in which a distribution names the groups that it lets others extend."""


def get_entry_points(group_name: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, sorted; of several the first on `sys.path` has the name."""
    return dict(sorted(_groups(tuple(sys.path)).get(group_name, {}).items()))


@lru_cache(maxsize=1)
def _groups(path: tuple[str, ...]) -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points by group and name while `sys.path` holds `path`."""
    found: Any = entry_points()  # up to Python 3.11 a dictionary of groups, whose methods warn of that
    groups: dict[str, dict[str, EntryPoint]] = {}
    for point in chain.from_iterable(dict.values(found)) if isinstance(found, dict) else found:
        groups.setdefault(point.group, {}).setdefault(point.name, point)
    return groups


def get_all_entry_points() -> dict[str, dict[str, tuple[Distribution, EntryPoint]]]:
    """Return the entry points of all groups that `ros2cli.extension_point` names, with their distributions.

    They are sorted into their groups, and are found there by name.
    """
    return {
        group: {name: (_distribution(point), point) for name, point in points.items()}
        for group in get_entry_points(EXTENSION_POINT_GROUP_NAME)
        if (points := get_entry_points(group))
    }


def _distribution(point: EntryPoint) -> Distribution:
    distribution: Distribution | None = getattr(point, "dist", None)
    assert distribution is not None  # each that `entry_points` finds has one
    return distribution


def load_entry_points(group_name: str, *, exclude_names: Container[str] | None = None) -> dict[str, Any]:
    """Import what the entry points of a group name, by their names; one that fails is told and left out."""
    loaded = {}
    for name, point in get_entry_points(group_name).items():
        if name in (exclude_names or ()):
            continue
        try:
            loaded[name] = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001  packages of others may raise anything
            tell_broken(group_name, name, error)
    return loaded


def why_broken(group_name: str, name: str, error: BaseException) -> str:
    """Return one line that says which plug-in cannot be used, and why."""
    reason = " ".join(str(error).split())
    return f"plug-in '{name}' of '{group_name}' cannot be used: {type(error).__name__}: {reason}"


def tell_broken(group_name: str, name: str, error: BaseException) -> None:
    """Warn of a plug-in that cannot be used, in one line, on standard error unless a program logs."""
    import logging

    logging.getLogger(__name__).warning(why_broken(group_name, name, error))


def get_first_line_doc(any_type: Any) -> str:
    """Return the first line of the documentation without its period."""
    lines = (getattr(any_type, "__doc__", None) or "").strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else ""
