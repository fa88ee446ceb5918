"""Look-up of ROS packages, shared by messages, launch, the command line and ament_index.

There are two sources, in this order of precedence:

1. Prefixes: the entries of `AMENT_PREFIX_PATH`, then `sys.prefix`. A prefix has a package if
   `share/ament_index/resource_index/packages/<name>` exists below it. The package's share directory is
   `<prefix>/share/<name>`, and its executables are the files in `<prefix>/lib/<name>/`.
2. Entry points of installed Python distributions. In the group `ros2_embedded.packages` the name is the ROS
   package, and the value `module:function` returns the share directory (a `pathlib.Path` with `package.xml`,
   `msg/`, `srv/`, `action/`, `launch/`). In the group `ros2_embedded.executables` the name is
   `<package>.<executable>`, and the value `module:main`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PACKAGES_GROUP = "ros2_embedded.packages"
EXECUTABLES_GROUP = "ros2_embedded.executables"
RUNNER = (sys.executable, "-m", "ros2_embedded.run")
"""First arguments of the command that runs an entry point."""
BUNDLED = Path(__file__).parent / "interfaces"
OWN = (
    "ament_index_python",
    "cv_bridge",
    "domain_coordinator",
    "launch",
    "launch_pytest",
    "launch_ros",
    "launch_testing",
    "launch_testing_ros",
    "launch_xml",
    "launch_yaml",
    "message_filters",
    "rclpy",
    "rclpy_components",
    "ros2action",
    "ros2bag",
    "ros2cli",
    "ros2component",
    "ros2doctor",
    "ros2interface",
    "ros2launch",
    "ros2lifecycle",
    "ros2multicast",
    "ros2node",
    "ros2param",
    "ros2pkg",
    "ros2run",
    "ros2service",
    "ros2topic",
    "rosbag2_py",
    "rosidl_adapter",
    "rosidl_parser",
    "rosidl_runtime_py",
    "sensor_msgs_py",
    "tf2_geometry_msgs",
    "tf2_py",
    "tf2_ros",
    "tf2_sensor_msgs",
    "tf2_tools",
)
"""Packages of ROS 2 that this distribution provides; their prefix is that of the interpreter."""
_INDEX = Path("share") / "ament_index" / "resource_index"


class PackageNotFoundError(LookupError):
    """No prefix and no entry point knows the package."""


@dataclass(frozen=True)
class Executable:
    """One program of a package: a file below `lib/<package>/`, or an entry point.

    Attributes:
        package: ROS package name.
        name: its name for `ros2 run`.
        path: of the file; None for an entry point.
        target: `module:main` of the entry point; None for a file.
    """

    package: str
    name: str
    path: Path | None = None
    target: str | None = None

    def command(self) -> list[str]:
        """Return the argument vector that starts the program; append its own arguments."""
        if self.path is not None:
            return [str(self.path)]
        return [*RUNNER, self.package, self.name]


def prefixes() -> list[Path]:
    """Return the existing prefixes, in order of precedence."""
    listed = [Path(entry) for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]
    return [prefix for prefix in dict.fromkeys([*listed, Path(sys.prefix)]) if prefix.is_dir()]


def index_directory(prefix: Path, resource_type: str) -> Path:
    """Return the folder of one resource type in the ament resource index of a prefix."""
    return prefix / _INDEX / resource_type


@lru_cache(maxsize=1)
def _package_entry_points() -> dict[str, EntryPoint]:
    """Return the entry points by package name, cached, as reading all distributions' metadata is slow."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=PACKAGES_GROUP)}


@lru_cache(maxsize=1)
def _executable_entry_points() -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points by package and executable name."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, EntryPoint]] = {}
    for point in entry_points(group=EXECUTABLES_GROUP):
        package, _, name = point.name.partition(".")
        found.setdefault(package, {})[name] = point
    return found


def package_names() -> list[str]:
    """Return the sorted names of all packages, bundled interface packages included."""
    names = {*_package_entry_points(), *_executable_entry_points(), *OWN}
    names.update(path.name for path in BUNDLED.iterdir() if path.is_dir() and path.name != "__pycache__")
    for prefix in prefixes():
        folder = index_directory(prefix, "packages")
        if folder.is_dir():
            names.update(path.name for path in folder.iterdir())
    return sorted(names)


def package_prefix(name: str) -> Path | None:
    """Return the prefix whose resource index lists the package, or None when it comes from an entry point."""
    for prefix in prefixes():
        if (index_directory(prefix, "packages") / name).is_file():
            return prefix
    return Path(sys.prefix) if name in OWN else None


def package_share(name: str) -> Path:
    """Return the share directory of a package.

    Raises:
        PackageNotFoundError: nothing installed provides the package.
    """
    prefix = package_prefix(name)
    if prefix is not None:
        return prefix / "share" / name
    point = _package_entry_points().get(name)
    if point is not None:
        return Path(point.load()())
    if name and (BUNDLED / name).is_dir():
        return BUNDLED / name
    raise PackageNotFoundError(
        f"package {name!r} is in no prefix of AMENT_PREFIX_PATH and in no entry point of group "
        f"{PACKAGES_GROUP!r}: source its setup file, or pip install the distribution that provides it"
    )


def executables(package: str) -> dict[str, Executable]:
    """Return the programs of a package by name; files in `lib/<package>/` precede entry points."""
    found = {
        name: Executable(package, name, target=point.value)
        for name, point in _executable_entry_points().get(package, {}).items()
    }
    prefix = package_prefix(package)
    folder = prefix / "lib" / package if prefix is not None else None
    if folder is not None and folder.is_dir():
        for path in sorted(folder.iterdir()):
            if path.is_file() and os.access(path, os.X_OK):
                found[path.name] = Executable(package, path.name, path=path)
    return found
