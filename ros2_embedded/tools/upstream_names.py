"""Write the public names of the modules of a real ROS 2, for `tests/test_public_names.py`.

    <python of that installation> tools/upstream_names.py tests/upstream_names.json

The Python packages of a ROS 2 installation, or of its wheels (`pip install ros-jazzy-rclpy
ros-jazzy-rmw-fastrtps-cpp` into an environment of its own), are imported module by module. A name counts when
a
program may import it from there for what it is in ROS: modules, names with an underscore and what comes from
the
standard library are left out. Needs nothing but the standard library.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = (
    "ament_index_python",
    "launch",
    "launch_ros",
    "launch_xml",
    "launch_yaml",
    "rclpy",
    "ros2action",
    "ros2cli",
    "ros2node",
    "ros2param",
    "ros2service",
    "ros2topic",
    "rosidl_adapter",
    "rosidl_parser",
    "rosidl_runtime_py",
    "sensor_msgs_py",
    "tf2_geometry_msgs",
    "tf2_py",
    "tf2_ros",
)
PLAIN = (bool, int, float, str, bytes, tuple, list, dict, set, frozenset, type(None))


def is_of_ros(value: Any) -> bool:
    """Whether a value is more than a helper that a module imported from elsewhere."""
    if isinstance(value, ModuleType):
        return False
    if isinstance(value, PLAIN):
        return True
    origin = getattr(value, "__module__", None) or type(value).__module__
    return str(origin).partition(".")[0] not in sys.stdlib_module_names


def public_names(module: ModuleType) -> list[str]:
    """The names of a module that programs may import."""
    return sorted(
        name for name, value in vars(module).items() if not name.startswith("_") and is_of_ros(value)
    )


def modules_of(package: str) -> dict[str, list[str]]:
    """The public names of a package's modules; those that cannot be imported are left out."""
    try:
        root = importlib.import_module(package)
    except ImportError:
        return {}
    found = {package: public_names(root)}
    for info in pkgutil.walk_packages(root.__path__, f"{package}."):
        if "._" in info.name:
            continue
        try:
            module = importlib.import_module(info.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a module of an installation may need what is not installed
            sys.stderr.write(f"left out: {info.name}: {error}\n")
            continue
        found[info.name] = public_names(module)
    return {name: names for name, names in found.items() if names}


def version_of(package: str) -> str | None:
    """The version of the distribution that provides a package."""
    for name in metadata.packages_distributions().get(package, []):
        return metadata.version(name)
    return None


def main() -> int:
    """Command line; returns the exit status."""
    if len(sys.argv) != 2:
        sys.stderr.write(f"usage: {sys.argv[0]} OUTPUT.json\n")
        return 2
    modules = {name: names for package in PACKAGES for name, names in modules_of(package).items()}
    packages = sorted({name.partition(".")[0] for name in modules})
    content = {
        "source": {package: version_of(package) for package in packages},
        "modules": modules,
    }
    Path(sys.argv[1]).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{len(modules)} modules of {', '.join(packages)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
