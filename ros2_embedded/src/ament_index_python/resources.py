"""Marker files in the resource index."""

from __future__ import annotations

from ros2_embedded.packages import index_directory, prefixes


def get_resource(resource_type: str, resource_name: str) -> tuple[str, str]:
    """Return the content of a resource and the prefix it was found in; raise LookupError when there is
    none."""
    for prefix in prefixes():
        path = index_directory(prefix, resource_type) / resource_name
        if path.is_file():
            return path.read_text(encoding="utf-8"), str(prefix)
    raise LookupError(f"no resource '{resource_name}' of type '{resource_type}' in the ament index")


def has_resource(resource_type: str, resource_name: str) -> str | None:
    """Return the prefix that holds the resource, or None."""
    for prefix in prefixes():
        if (index_directory(prefix, resource_type) / resource_name).is_file():
            return str(prefix)
    return None


def get_resources(resource_type: str) -> dict[str, str]:
    """Return the prefix of each resource of a type, by name; the first prefix that has it counts."""
    found: dict[str, str] = {}
    for prefix in prefixes():
        folder = index_directory(prefix, resource_type)
        if folder.is_dir():
            for path in folder.iterdir():
                if path.is_file() and not path.name.startswith("."):
                    found.setdefault(path.name, str(prefix))
    return found


def get_resource_types() -> list[str]:
    """Return the names of all types that have resources, sorted."""
    roots = (index_directory(prefix, "") for prefix in prefixes())
    return sorted({path.name for root in roots if root.is_dir() for path in root.iterdir() if path.is_dir()})
