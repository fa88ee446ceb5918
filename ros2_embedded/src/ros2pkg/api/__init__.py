"""Packages, as programs ask for them through the command line's functions."""

from __future__ import annotations

from typing import Any

from ament_index_python import get_package_prefix, get_packages_with_prefixes
from ament_index_python.packages import PackageNotFoundError
from ros2_embedded.packages import executables


class PackageNotFound(LookupError):
    """Nothing installed provides the package."""

    def __init__(self, package_name: str) -> None:
        """Keep the name."""
        super().__init__(package_name)
        self.package_name = package_name


def get_package_names() -> list[str]:
    """Return the names of all packages."""
    return list(get_packages_with_prefixes())


def get_prefix_path(package_name: str) -> str | None:
    """Return the prefix of a package, None when nothing provides it or its name is none."""
    try:
        return get_package_prefix(package_name)
    except (PackageNotFoundError, ValueError):
        return None


def get_executable_paths(*, package_name: str) -> list[str]:
    """Return the paths of a package's programs; those that are entry points have none.

    Raises:
        PackageNotFound: nothing provides the package.
    """
    found = executables(package_name)
    if not found and get_prefix_path(package_name) is None:
        raise PackageNotFound(package_name)
    return sorted(str(program.path) for program in found.values() if program.path is not None)


def package_name_completer(**_: Any) -> list[str]:
    """Return the names of all packages."""
    return get_package_names()
