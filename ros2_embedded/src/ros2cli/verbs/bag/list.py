"""ros2 bag list."""

from __future__ import annotations

import argparse

from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "plugin_type", choices=("storage", "converter", "compressor", "decompressor"), help="what to list"
    )
    parser.add_argument("--verbose", action="store_true", help="with what each one is for")


def main(args: argparse.Namespace) -> int:
    """Print the names of what reads, writes and compresses bags."""
    import rosbag2_py

    if args.plugin_type == "storage":
        found = dict.fromkeys(rosbag2_py.get_registered_writers(), "reads and writes")
    elif args.plugin_type == "converter":
        found = {
            f"rosbag2_{name}": "messages as they are" for name in rosbag2_py.get_registered_serializers()
        }
    else:
        found = dict.fromkeys(rosbag2_py.get_registered_compressors(), f"{args.plugin_type} of chunks")
    for name, what in sorted(found.items()):
        write(f"{name}: {what}\n" if args.verbose else f"{name}\n")
    return 0
