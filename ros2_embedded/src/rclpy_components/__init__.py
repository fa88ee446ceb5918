"""Nodes as components: classes that are loaded into a running container process.

A distribution names its components in entry points:

    [project.entry-points."ros2_embedded.components"]
    "my_robot::Camera" = "my_robot.camera:Camera"

The class is a `rclpy.node.Node` whose constructor takes keyword arguments and passes them on to
`Node.__init__`; they carry the name, namespace, remappings and parameters that the loader asked for.
"""

from .manager import ComponentManager
from .registry import COMPONENTS_GROUP, ComponentNotFoundError, component_types, load_component

__all__ = [
    "COMPONENTS_GROUP",
    "ComponentManager",
    "ComponentNotFoundError",
    "component_types",
    "load_component",
]
