"""Which interfaces there are."""

from __future__ import annotations

from ros2_embedded.packages import package_names
from ros2_embedded.rosidl.registry import KINDS, interfaces_of


def interface_packages() -> list[str]:
    """Return the names of all packages that have interfaces, sorted."""
    return [name for name in package_names() if any(interfaces_of(name).values())]


def interface_names(package: str, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Return `package/kind/Name` of each interface of a package, sorted by kind and name."""
    found = interfaces_of(package)
    return [f"{package}/{kind}/{name}" for kind in kinds for name in found.get(kind, ())]
