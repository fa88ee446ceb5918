"""The entry points that a `setup.cfg` beside a `CMakeLists.txt` gives a Python package, as files."""

from __future__ import annotations

import configparser
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

from ros2_embedded.install.source_packages import InstallError, SourcePackage

_INSTALLER = "ros2_embedded"
"""What the metadata says that has installed the package; only such metadata is replaced."""


def read_entry_points(path: Path) -> list[EntryPoint]:
    """Return the entry points of a `setup.cfg`, none where there is no such file.

    Raises:
        InstallError: the file cannot be read.
    """
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of groups keep their letters
    try:
        if path.is_file():
            parser.read_string(path.read_text("utf-8"))
    except (OSError, ValueError, configparser.Error) as error:
        raise InstallError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    groups = parser["options.entry_points"] if parser.has_section("options.entry_points") else {}
    points = []
    for group, text in groups.items():
        for line in text.splitlines():
            name, separator, value = (part.strip() for part in line.partition("="))
            if "/" in name:
                raise InstallError(f"{path} cannot be read: the entry point '{name}' must have no slash")
            if separator and name and not name.startswith("#"):
                points.append(EntryPoint(name=name, value=value, group=group))
    return points


def write_metadata(package: SourcePackage, name: str, points: list[EntryPoint], folder: Path) -> None:
    """Write the metadata with which `importlib.metadata` finds the entry points of a Python package.

    Raises:
        InstallError: the version cannot be part of a file's name.
    """
    if "/" in package.version:
        raise InstallError(f"package '{package.name}' has no version: '{package.version}'")
    for old in folder.glob(f"{name}-*.dist-info"):
        installer = old / "INSTALLER"
        if installer.is_file() and installer.read_text("utf-8").strip() == _INSTALLER:
            shutil.rmtree(old)
    target = folder / f"{name}-{package.version}.dist-info"
    target.mkdir(parents=True, exist_ok=True)
    groups: dict[str, list[str]] = {}
    for point in points:
        groups.setdefault(point.group, []).append(f"{point.name} = {point.value}\n")
    texts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {package.version}\n",
        "INSTALLER": f"{_INSTALLER}\n",
        "entry_points.txt": "\n".join(f"[{group}]\n{''.join(lines)}" for group, lines in groups.items()),
    }
    for file, text in texts.items():
        (target / file).write_text(text, "utf-8")


def write_scripts(points: list[EntryPoint], folder: Path) -> None:
    """Write a program for each entry point of the group `console_scripts`."""
    for point in points:
        if point.group == "console_scripts":
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / point.name
            name = point.attr.partition(".")[0]
            call = f"from {point.module} import {name}\n\nsys.exit({point.attr}())\n"
            path.write_text(f"#!{sys.executable}\nimport sys\n\n{call}", "utf-8")
            path.chmod(0o755)
