"""Where packages lie."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from ros2_embedded import packages as _packages

from .resources import get_resource, get_resources
from .search_paths import get_search_paths, names_the_interpreter

__all__ = [
    "PackageNotFoundError",
    "get_package_prefix",
    "get_package_share_directory",
    "get_package_share_path",
    "get_packages_with_prefixes",
    "get_resource",
    "get_resources",
    "get_search_paths",
]


class PackageNotFoundError(KeyError):
    """No prefix and no installed distribution provides the package."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message  # KeyError would show the text in quotes


def get_package_share_path(package_name: str, print_warning: bool = True) -> Path:
    """Return the share directory of a package.

    Args:
        package_name: the package.
        print_warning: whether a UserWarning tells of a package without this directory.

    Raises:
        ValueError: for a name that no package can have.
        PackageNotFoundError: when nothing installed provides it.
    """
    return _share(package_name, print_warning)


def get_package_share_directory(package_name: str, print_warning: bool = True) -> str:
    """Return the share directory of a package as text; warns and raises as `get_package_share_path` does."""
    return str(_share(package_name, print_warning))


def _share(package_name: str, print_warning: bool) -> Path:
    _check(package_name)
    try:
        path = _packages.package_share(package_name)
    except _packages.PackageNotFoundError as error:
        raise PackageNotFoundError(str(error)) from error
    if print_warning and package_name not in _packages.OWN and not path.exists():
        warnings.warn(f"the share directory {path} of {package_name} does not exist", stacklevel=3)
    return path


def get_package_prefix(package_name: str) -> str:
    """Return the prefix of a package: `<prefix>/share/<name>` is its share directory.

    For a package that an installed Python distribution provides from wherever it lies, this is the share
    directory itself. Raises as `get_package_share_path` does.
    """
    _check(package_name)
    prefix = _packages.package_prefix(package_name)
    return str(prefix) if prefix is not None else get_package_share_directory(package_name)


def get_packages_with_prefixes() -> dict[str, str]:
    """Return the prefix of each package that the search paths have, by name.

    What pip installed is among them while the interpreter's own prefix is a search path.

    Raises:
        OSError: as `get_search_paths` does.
    """
    found = get_resources("packages")
    if names_the_interpreter():
        names = (name for name in _packages.package_names() if name not in found and _provides_share(name))
        found |= {name: get_package_prefix(name) for name in names}
    return found


def _provides_share(name: str) -> bool:
    try:
        _packages.package_share(name)
    except _packages.PackageNotFoundError:
        return False  # executables alone, without package files, make no package
    return True


def _check(package_name: str) -> None:
    """Names are those of REP 127: letters, digits, hyphens and underscores, two at least."""
    if re.fullmatch("[a-zA-Z0-9][a-zA-Z0-9_-]+", package_name, re.ASCII) is None:
        raise ValueError(f"'{package_name}' is not a valid package name")
