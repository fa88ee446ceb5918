"""What `ros2 extensions` and `ros2 extension_points` look at."""

from __future__ import annotations

from importlib.metadata import EntryPoint

from ...commands import COMMANDS
from ...entry_points import EXTENSION_POINT_GROUP_NAME, get_entry_points
from ...plugins import COMMANDS_GROUP, verb_group


def extension_points() -> dict[str, EntryPoint]:
    """Return the groups that packages extend, those of this distribution and those of others.

    Each is an entry point whose object is the base class.
    """
    bases = {COMMANDS_GROUP: "ros2cli.command:CommandExtension"}
    for command in COMMANDS:
        group = verb_group(command)
        if group is not None:
            bases[group] = f"{group}:VerbExtension"
    bases["ros2launch.option"] = "ros2launch.option:OptionExtension"
    bases["ros2cli.daemon.verb"] = bases["sros2.verb"] = "ros2cli.verb:VerbExtension"
    own = {
        name: EntryPoint(name=name, value=value, group=EXTENSION_POINT_GROUP_NAME)
        for name, value in bases.items()
    }
    return dict(sorted({**own, **get_entry_points(EXTENSION_POINT_GROUP_NAME)}.items()))


def module_name(point: EntryPoint) -> str:
    """Return the module that an entry point names."""
    return point.value.partition(":")[0].strip()


def attributes(point: EntryPoint) -> str:
    """Return the object in its module that an entry point names."""
    return point.value.partition(":")[2].partition("[")[0].strip()
