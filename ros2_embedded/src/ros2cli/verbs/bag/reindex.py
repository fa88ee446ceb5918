"""ros2 bag reindex."""

from __future__ import annotations

import argparse

from ...errors import CliError
from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("bag_path", help="directory of the bag")
    parser.add_argument("-s", "--storage", default="", help="accepted for ROS 2's sake: the files say")


def main(args: argparse.Namespace) -> int:
    """Complete a bag whose recording was killed."""
    from rosbag2_py import BagError, Reindexer, StorageOptions

    try:
        count = Reindexer().reindex(StorageOptions(uri=args.bag_path))
    except BagError as error:
        raise CliError(str(error)) from error
    write(f"Reindexed '{args.bag_path}': {count} messages\n")
    return 0
