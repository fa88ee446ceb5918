"""ros2 bag reindex."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("bag_path", help="directory of the bag")
    parser.add_argument("-s", "--storage", default="", help="accepted for ROS 2's sake: the files say")


def main(args: argparse.Namespace) -> int:
    """Complete a bag whose recording was killed."""
    from rosbag2_py import BagError, Reindexer, StorageOptions
    from rosbag2_py.reindexer import KEPT

    try:
        count = Reindexer().reindex(StorageOptions(uri=args.bag_path))
    except BagError as error:
        raise CliError(str(error)) from error
    write(f"Reindexed '{args.bag_path}': {count} messages\n")
    for path in sorted(Path(args.bag_path).glob(f"*{KEPT}")):
        write(f"Parts of a file could not be read; it is kept as {path}\n")
    return 0
