"""ros2 bag info."""

from __future__ import annotations

import argparse
import datetime
from typing import TYPE_CHECKING

from ...errors import CliError
from ...topics import write

if TYPE_CHECKING:
    from rosbag2_py import BagMetadata

_NS = 10**9
_INDENT = 19


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("bag_path", help="directory of the bag, or a single MCAP or SQLite file")
    parser.add_argument("-s", "--storage", default="", help="accepted for ROS 2's sake: the bag itself says")
    parser.add_argument("-t", "--topic-name", action="store_true", help="only the names of the topics")
    parser.add_argument("-v", "--verbose", action="store_true", help="with the hashes of the types")


def main(args: argparse.Namespace) -> int:
    """Print what a bag holds."""
    from rosbag2_py import BagError, SequentialReader, StorageOptions

    reader = SequentialReader()
    try:
        reader.open(StorageOptions(uri=args.bag_path, storage_id=args.storage))
    except BagError as error:
        raise CliError(str(error)) from error
    metadata = reader.get_metadata()
    if args.topic_name:
        write("".join(f"{topic.name}\n" for topic in reader.get_all_topics_and_types()))
    else:
        write(_describe(metadata, args.verbose))
    return 0


def _describe(metadata: BagMetadata, verbose: bool) -> str:
    end = metadata.starting_time_ns + metadata.duration_ns
    rows = [
        ("Files:", metadata.relative_file_paths),
        ("Bag size:", [_size(metadata.bag_size)]),
        ("Storage id:", [metadata.storage_identifier]),
        ("ROS Distro:", [metadata.ros_distro or "unknown"]),
        ("Duration:", [f"{metadata.duration_ns / _NS:.9f}s"]),
        ("Start:", [_time(metadata.starting_time_ns)]),
        ("End:", [_time(end)]),
        ("Messages:", [str(metadata.message_count)]),
        ("Topic information:", [_topic(entry, verbose) for entry in metadata.topics_with_message_count]),
    ]
    lines = [""]
    for title, values in rows:
        for index, value in enumerate(values or [""]):
            lines.append(f"{'' if index else title:<{_INDENT}}{value}".rstrip())
    return "\n".join(lines) + "\n"


def _topic(entry: object, verbose: bool) -> str:
    from rosbag2_py import TopicInformation

    assert isinstance(entry, TopicInformation)
    topic = entry.topic_metadata
    text = (
        f"Topic: {topic.name} | Type: {topic.type} | Count: {entry.message_count} "
        f"| Serialization Format: {topic.serialization_format}"
    )
    return f"{text} | Type hash: {topic.type_description_hash}" if verbose else text


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024
    return f"{count:.1f} GiB"


def _time(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, _NS)
    day = datetime.datetime.fromtimestamp(seconds)
    return f"{day:%b} {day.day:2d} {day:%Y %H:%M:%S}.{rest:09d} ({seconds}.{rest:09d})"
