"""Marker files in the resource index."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ros2_embedded.packages import index_directory

from .constants import RESOURCE_INDEX_SUBFOLDER
from .search_paths import get_search_paths

__all__ = [
    "RESOURCE_INDEX_SUBFOLDER",
    "InvalidResourceNameError",
    "InvalidResourceTypeNameError",
    "get_resource",
    "get_resource_types",
    "get_resources",
    "get_search_paths",
    "has_resource",
    "name_is_invalid",
]


class InvalidResourceTypeNameError(ValueError):
    """The name of a resource type holds a separator of paths."""


class InvalidResourceNameError(ValueError):
    """The name of a resource holds a separator of paths."""


def name_is_invalid(resource_name: str) -> bool:
    """Return whether a name holds a separator of paths."""
    return "/" in resource_name or "\\" in resource_name


def _check(resource_type: str, resource_name: str | None = None) -> None:
    if not resource_type:
        raise AssertionError("The resource type must not be empty")
    if name_is_invalid(resource_type):
        raise InvalidResourceTypeNameError(f"Resource type '{resource_type}' is invalid")
    if resource_name is None:
        return
    if not resource_name:
        raise AssertionError("The resource name must not be empty")
    if name_is_invalid(resource_name):
        raise InvalidResourceNameError(f"Resource name '{resource_name}' is invalid")


def get_resource(resource_type: str, resource_name: str) -> tuple[str, str]:
    """Return the content of a resource and the prefix it was found in; raise LookupError when there is
    none, and as `has_resource` does."""
    _check(resource_type, resource_name)
    prefix = has_resource(resource_type, resource_name)
    if not prefix:
        raise LookupError(f"Could not find the resource '{resource_name}' of type '{resource_type}'")
    path = index_directory(Path(prefix), resource_type) / resource_name
    return path.read_text(encoding="utf-8"), prefix


def has_resource(resource_type: str, resource_name: str) -> str | Literal[False]:
    """Return the first prefix that holds the resource, or False.

    Raises:
        OSError: as `get_search_paths` does.
        AssertionError: a name is empty.
        InvalidResourceTypeNameError, InvalidResourceNameError: a name holds a separator of paths.
    """
    _check(resource_type, resource_name)
    for prefix in get_search_paths():
        if (index_directory(Path(prefix), resource_type) / resource_name).is_file():
            return prefix
    return False


def get_resources(resource_type: str) -> dict[str, str]:
    """Return the prefix of each resource of a type, by name; the first prefix that has it counts."""
    _check(resource_type)
    found: dict[str, str] = {}
    for prefix in get_search_paths():
        folder = index_directory(Path(prefix), resource_type)
        if folder.is_dir():
            for path in folder.iterdir():
                if path.is_file() and not path.name.startswith("."):
                    found.setdefault(path.name, prefix)
    return found


def get_resource_types() -> set[str]:
    """Return the names of all types that have resources."""
    roots = [index_directory(Path(prefix), "") for prefix in get_search_paths()]
    paths = (path for root in roots if root.is_dir() for path in root.iterdir() if path.is_dir())
    return {path.name for path in paths if not path.name.startswith(".")}
