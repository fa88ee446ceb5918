"""Write the standard messages of a ROS 2 distribution as `.msg` files, from the type stores of `rosbags`.

    python tools/bundle_messages.py src/ros2_embedded

fills `interfaces/` with the messages of Jazzy, and `interfaces_lyrical/` with those of Lyrical that differ or
are new. Files that were written by hand (services, actions, messages no store has) are left alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore

Definitions = dict[str, tuple[Any, Any]]
# Default values, which the stores do not carry (geometry_msgs/Quaternion.msg, sensor_msgs/NavSatStatus.msg).
DEFAULTS = {("geometry_msgs/msg/Quaternion", "w"): "1", ("sensor_msgs/msg/NavSatStatus", "status"): "-2"}


def spell(description: Any) -> str:
    """A field type as a `.msg` file spells it."""
    node, content = description
    if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        inner, size = content
        bound = "" if not size else str(size) if node == Nodetype.ARRAY else f"<={size}"
        return f"{spell(inner)}[{bound}]"
    if node == Nodetype.NAME:
        return str(content).replace("/msg/", "/")
    base, bound = content
    return f"{base}<={bound}" if bound else str(base)


def text_of(name: str, definition: tuple[Any, Any]) -> str:
    """The `.msg` text of a type."""
    constants, fields = definition
    lines = []
    for constant, base, value in constants:
        shown = f'"{value}"' if isinstance(value, str) else value
        lines.append(f"{base} {constant}={shown}")
    for field, description in fields:
        if field != "structure_needs_at_least_one_member":
            lines.append(f"{spell(description)} {field} {DEFAULTS.get((name, field), '')}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def write(definitions: Definitions, directory: Path) -> None:
    """Write one file a type below `<directory>/<package>/msg/`."""
    for name, definition in definitions.items():
        package, kind, short = name.split("/")
        path = directory / package / kind / f"{short}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(name, definition), "utf-8")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("directory", type=Path, help="the package directory that holds interfaces/")
    directory = parser.parse_args().directory
    jazzy = get_typestore(Stores.ROS2_JAZZY).fielddefs
    lyrical = get_typestore(Stores.ROS2_LYRICAL).fielddefs
    write(jazzy, directory / "interfaces")
    write(
        {name: new for name, new in lyrical.items() if jazzy.get(name) != new},
        directory / "interfaces_lyrical",
    )


if __name__ == "__main__":
    main()
