"""How often a launch starts nodes of a name."""

from __future__ import annotations

from collections import Counter

from launch import LaunchContext
from launch.logging import get_logger

_KEY = "unique_ros_node_names"


def add_node_name(context: LaunchContext, node_name: str) -> None:
    """Count a node by its full name, and warn when there is another one."""
    names = _names(context)
    names[node_name] += 1
    if names[node_name] > 1:
        get_logger("launch_ros").warning(
            f"there are now at least {names[node_name]} nodes with the name {node_name} "
            "created within this launch context"
        )


def get_node_name_count(context: LaunchContext, node_name: str) -> int:
    """Return how many nodes of a full name were started."""
    return _names(context)[node_name]


def _names(context: LaunchContext) -> Counter[str]:
    known: Counter[str] | None = context.get_locals_as_dict().get(_KEY)
    if known is None:
        known = Counter()
        context.extend_globals({_KEY: known})
    return known
