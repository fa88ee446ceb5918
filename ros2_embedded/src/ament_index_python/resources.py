"""Marker files in the resource index."""

from __future__ import annotations

from ros2_embedded.packages import index_directory, prefixes

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


class InvalidResourceTypeNameError(Exception):
    """The name of a resource type holds a separator of paths."""


class InvalidResourceNameError(Exception):
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
    for prefix in prefixes():
        path = index_directory(prefix, resource_type) / resource_name
        if path.is_file():
            return path.read_text(encoding="utf-8"), str(prefix)
    raise LookupError(f"no resource '{resource_name}' of type '{resource_type}' in the ament index")


def has_resource(resource_type: str, resource_name: str) -> str | None:
    """Return the prefix that holds the resource, or None.

    Raises:
        AssertionError: a name is empty.
        InvalidResourceTypeNameError, InvalidResourceNameError: a name holds a separator of paths.
    """
    _check(resource_type, resource_name)
    for prefix in prefixes():
        if (index_directory(prefix, resource_type) / resource_name).is_file():
            return str(prefix)
    return None


def get_resources(resource_type: str) -> dict[str, str]:
    """Return the prefix of each resource of a type, by name; the first prefix that has it counts."""
    _check(resource_type)
    found: dict[str, str] = {}
    for prefix in prefixes():
        folder = index_directory(prefix, resource_type)
        if folder.is_dir():
            for path in folder.iterdir():
                if path.is_file() and not path.name.startswith("."):
                    found.setdefault(path.name, str(prefix))
    return found


def get_resource_types() -> set[str]:
    """Return the names of all types that have resources."""
    roots = (index_directory(prefix, "") for prefix in prefixes())
    return {path.name for root in roots if root.is_dir() for path in root.iterdir() if path.is_dir()}
