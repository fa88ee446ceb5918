"""Finding packages in a folder of sources."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_IGNORED = ("COLCON_IGNORE", "AMENT_IGNORE")
_BUILD_TYPE = "ament_cmake"  # default of REP 149


class InstallError(Exception):
    """A package cannot be installed; the text names the package and the reason."""


@dataclass(frozen=True)
class SourcePackage:
    """A package in a folder of sources.

    Attributes:
        name: its name in `package.xml`.
        folder: of its `package.xml`.
        build_type: `ament_python`, `ament_cmake`, ...
        version: its version in `package.xml`.
    """

    name: str
    folder: Path
    build_type: str
    version: str = "0.0.0"


def read_manifest(path: Path) -> SourcePackage:
    """Return the package of a `package.xml`.

    Raises:
        InstallError: the file cannot be read, or has no package name.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError, LookupError, ValueError) as error:  # or an unknown encoding
        raise InstallError(f"{path} cannot be read: {error}") from error
    name = (root.findtext("name") or "").strip()
    if root.tag != "package" or not name.replace("_", "").replace("-", "").isalnum():
        raise InstallError(f"{path} names no package")
    build_type = root.findtext("export/build_type", _BUILD_TYPE).strip()
    version = root.findtext("version", "").strip() or "0.0.0"
    return SourcePackage(name, path.parent, build_type, version)


def find_packages(folder: Path) -> list[SourcePackage]:
    """Return the packages in a folder and below it, by name.

    Folders of packages are not searched further, and those with `COLCON_IGNORE` or `AMENT_IGNORE`, and hidden
    ones, are skipped. A folder that several links lead to is searched once.

    Raises:
        InstallError: a manifest is invalid, there is no package, or two have the same name.
    """
    found: dict[str, SourcePackage] = {}
    pending, seen = [folder], set[str]()
    while pending:
        here = pending.pop()
        real = os.path.realpath(here)
        if real in seen:
            continue
        seen.add(real)
        if any((here / name).exists() for name in _IGNORED):
            continue
        if (here / "package.xml").is_file():
            package = read_manifest(here / "package.xml")
            if package.name in found:
                raise InstallError(
                    f"two packages are called '{package.name}': {found[package.name].folder} and {here}"
                )
            found[package.name] = package
        elif here.is_dir():
            pending += [entry for entry in here.iterdir() if entry.is_dir() and entry.name[0] != "."]
    if not found:
        raise InstallError(f"no package.xml lies in {folder} or below it")
    return [found[name] for name in sorted(found)]
