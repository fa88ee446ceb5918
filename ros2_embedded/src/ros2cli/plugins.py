"""Verbs that other distributions add.

A distribution names a module with `add_arguments(parser)` and `main(args) -> int`:

    [project.entry-points."ros2_embedded.verbs"]
    "topic.plot" = "my_tools.plot"        # ros2 topic plot
    "fleet.list" = "my_tools.fleet_list"  # ros2 fleet list
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

VERBS_GROUP = "ros2_embedded.verbs"


def plugin_verbs(command: str) -> dict[str, EntryPoint]:
    """Return the entry point of each verb that plug-ins add to a command, sorted by name."""
    points = sorted(entry_points(group=VERBS_GROUP), key=lambda point: point.name)
    return {
        point.name.partition(".")[2]: point for point in points if point.name.partition(".")[0] == command
    }
