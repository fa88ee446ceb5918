"""Components, as programs ask for them through the command line's functions."""

from __future__ import annotations

from typing import Any, NamedTuple

from rclpy_components.registry import component_types
from ros2cli.components import containers, listed
from ros2cli.node.direct import DirectNode
from ros2node.api import NodeName, parse_node_name

__all__ = [
    "ComponentInfo",
    "find_container_node_names",
    "get_components_in_container",
    "get_package_component_types",
    "get_registered_component_types",
]


class ComponentInfo(NamedTuple):
    """A component in a container: its number and the full name of its node."""

    uid: int
    name: str


def _real(node: Any) -> Any:
    return node.node if isinstance(node, DirectNode) else node


def get_package_component_types(*, package_name: str | None = None) -> list[str]:
    """Return the components that a package registers."""
    return list(component_types().get(package_name or "", {}))


def get_registered_component_types() -> list[tuple[str, list[str]]]:
    """Return each package that registers components, with them."""
    return [(package, list(names)) for package, names in component_types().items()]


def find_container_node_names(*, node: Any, node_names: list[NodeName]) -> list[NodeName]:
    """Return those of the nodes that are containers."""
    found = containers(_real(node))
    return [name for name in node_names if name.full_name in found]


def get_components_in_container(
    *, node: Any, remote_container_node_name: str
) -> tuple[bool, list[ComponentInfo]]:
    """Return True and the components of a container."""
    found = listed(_real(node), parse_node_name(remote_container_node_name).full_name)
    return True, [ComponentInfo(number, name) for number, name in found]
