"""Registry of interface definitions, which are read from `.msg`, `.srv` and `.action` files at first use.

The standard interfaces are files of this distribution, in their versions of Jazzy. Those of other packages
are read from the package's share directory. The few standard messages that differ in another ROS distribution
are replaced if `ROS_DISTRO` or `select_distribution` names it.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from pathlib import Path

from ros2_embedded.packages import BUNDLED, PackageNotFoundError, package_prefix, package_share
from ros2_embedded.rosidl.definition import Definition
from ros2_embedded.rosidl.derived import parse_action, parse_service
from ros2_embedded.rosidl.parser import parse_message, read_definition

KINDS = ("msg", "srv", "action")
_HUMBLE, _LYRICAL = BUNDLED.with_name("interfaces_humble"), BUNDLED.with_name("interfaces_lyrical")
# Directories whose files replace bundled ones, by the value of ROS_DISTRO.
_OVERLAYS: dict[str, Path | None] = {
    "jazzy": None,
    "kilted": None,
    "lyrical": _LYRICAL,
    "rolling": _LYRICAL,
    "humble": _HUMBLE,
}
# What may be the name of a package with interfaces, and of its folder.
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,254}")
_definitions: dict[str, Definition] = {}
_files: dict[str, dict[str, Path]] = {}
_lock = threading.RLock()
_distribution: str | None = None


class InterfaceNotFoundError(LookupError):
    """No package provides the interface."""


def distribution() -> str:
    """Return the ROS distribution of the standard messages: `ROS_DISTRO` if it is known here, else jazzy."""
    global _distribution
    with _lock:
        if _distribution is None:
            named = os.environ.get("ROS_DISTRO", "")
            _distribution = named if named in _OVERLAYS else "jazzy"
        return _distribution


def select_distribution(name: str) -> None:
    """Choose the ROS distribution of the standard messages, before the first of them is imported.

    Raises:
        ValueError: the distribution is unknown, or has another wire format.
        RuntimeError: messages of another distribution are in use already.
    """
    global _distribution
    if name not in _OVERLAYS:
        raise ValueError(f"unknown ROS distribution {name!r}; known are {', '.join(_OVERLAYS)}")
    with _lock:
        if _definitions and _OVERLAYS[name] != _OVERLAYS[distribution()]:
            raise RuntimeError(
                f"messages of {distribution()} are in use: select {name} before messages are imported"
            )
        _distribution = name
        _files.clear()


def _directories(package: str) -> list[Path]:
    """Return the directories with `msg/`, `srv/` or `action/` of a package, in order of precedence."""
    overlay = _OVERLAYS[distribution()]
    bundled = [root / package for root in (overlay, BUNDLED) if root is not None]
    found = [directory for directory in bundled if directory.is_dir()]
    if (
        found
    ):  # a prefix may add to a bundled package; asking all distributions too would cost each start 50 ms
        prefix = package_prefix(package)
        found += [prefix / "share" / package] if prefix is not None else []
    else:
        with suppress(PackageNotFoundError):
            found.append(package_share(package))
    return list(dict.fromkeys(found))


def _files_of(package: str) -> dict[str, Path]:
    """Return the files of a package by full interface name; none for what is no name of a package."""
    if not _PACKAGE.fullmatch(package):
        return {}
    with _lock:
        if package in _files:
            return _files[package]
        found: dict[str, Path] = {}
        for directory in _directories(package):
            for kind in KINDS:
                for path in (directory / kind).glob(f"*.{kind}"):
                    found.setdefault(f"{package}/{kind}/{path.stem}", path)
        if found:  # a peer may ask for any number of packages that there are not
            _files[package] = found
        return found


def interfaces_of(package: str) -> dict[str, list[str]]:
    """Interface names of a package by kind: `{"msg": [...], "srv": [...], "action": [...]}` (empty if
    unknown).
    """
    names: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for full in sorted(_files_of(package)):
        _, kind, short = full.split("/")
        names[kind].append(short)
    return names


def source_file(name: str) -> Path | None:
    """Return the file of a type; `X_Request` and other derived types are in that of `X`. None: unknown."""
    files = _files_of(name.split("/")[0])
    while name:
        if name in files:
            return files[name]
        shorter = name.rpartition("_")[0]
        name = shorter if shorter.count("/") == 2 else ""
    return None


def _parse(path: Path, package: str) -> list[Definition]:
    """Return all types a file defines."""
    kind = path.suffix[1:]
    name, text = f"{package}/{kind}/{path.stem}", read_definition(path)
    if kind == "msg":
        return [parse_message(text, name, str(path))]
    return (parse_service if kind == "srv" else parse_action)(text, name, str(path))


def get_definition(name: str) -> Definition:
    """Return the definition of a type by full name, e.g. `std_msgs/msg/Header` or `pkg/srv/X_Request`.

    Raises:
        InterfaceNotFoundError: no package provides it.
        InterfaceSyntaxError: its file cannot be parsed.
    """
    found = _definitions.get(name)
    if found is not None:
        return found
    package = name.split("/")[0]
    with _lock:
        path = source_file(name)
        for definition in _parse(path, package) if path is not None else []:
            _definitions.setdefault(definition.name, definition)
        if name not in _definitions:
            raise InterfaceNotFoundError(
                f"interface {name!r} not found: package {package!r} has "
                f"{ {kind: found for kind, found in interfaces_of(package).items() if found} }"
            )
        return _definitions[name]
