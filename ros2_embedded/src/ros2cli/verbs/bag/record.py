"""ros2 bag record."""

from __future__ import annotations

import argparse
import datetime
import signal
import threading
from typing import TYPE_CHECKING

from ...bag.overrides import read_overrides
from ...bag.record_services import RecordServices
from ...bag.recorder import Recorder, Selection, set_level
from ...common_arguments import whole
from ...errors import CliError, check_patterns
from ...node import cli_node, full_name
from ...topics import follow_simulated_time

if TYPE_CHECKING:
    from rosbag2_py import CompressionOptions

_CACHE_BYTES = 100 * 1024 * 1024
STOP_POLL_S = 0.1
"""[s] an idle recorder looks so often whether it is to stop."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("topics", nargs="*", help="names of topics")
    parser.add_argument(
        "--topics", dest="more_topics", nargs="+", default=[], metavar="TOPIC", help="the same"
    )
    parser.add_argument(
        "--topic-types", nargs="+", default=[], metavar="TYPE", help="all topics of these types"
    )
    parser.add_argument("-a", "--all", action="store_true", help="all topics that are not hidden")
    parser.add_argument("--all-topics", dest="all", action="store_true", help="the same")
    parser.add_argument("-e", "--regex", default="", help="all topics in which this is found")
    parser.add_argument("-x", "--exclude-regex", default="", help="leave out topics in which this is found")
    parser.add_argument(
        "--exclude-topics", nargs="+", default=[], metavar="TOPIC", help="leave out these topics"
    )
    parser.add_argument(
        "--exclude-topic-types", nargs="+", default=[], metavar="TYPE", help="leave out these types"
    )
    parser.add_argument(
        "--include-hidden-topics", action="store_true", help="with topics such as /x/_action/status"
    )
    parser.add_argument("-o", "--output", help="directory of the bag, rosbag2_<date> by default")
    _add_storage_arguments(parser)
    parser.add_argument("--qos-profile-overrides-path", metavar="FILE", help="QoS of topics, as YAML")
    parser.add_argument(
        "--polling-interval",
        type=whole("polling interval", 1),
        default=100,
        metavar="MS",
        help="how often to look",
    )
    parser.add_argument("--node-name", default="rosbag2_recorder", help="name of the recording node")
    parser.add_argument("--use-sim-time", action="store_true", help="stamp messages by /clock")
    parser.add_argument(
        "--include-unpublished-topics", action="store_true", help="also topics that are only subscribed to"
    )
    parser.add_argument("--no-discovery", action="store_true", help="only the topics that are there now")
    parser.add_argument(
        "--snapshot-mode", action="store_true", help="keep the last messages, and write them at ~/snapshot"
    )
    parser.add_argument(
        "--max-cache-size",
        type=int,
        default=_CACHE_BYTES,
        metavar="BYTES",
        help="how much is kept for a snapshot; without snapshots nothing is cached",
    )
    parser.add_argument("--start-paused", action="store_true", help="wait for the service ~/resume")
    parser.add_argument(
        "--log-level", default="info", help="of the recorder: debug, info, warn, error, fatal"
    )
    _add_arguments_without_effect(parser)
    parser.add_argument(
        "--custom-data", nargs="*", default=[], metavar="KEY=VALUE", help="kept in the metadata"
    )


def _add_storage_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how the bag is stored: its files, and their compression."""
    parser.add_argument("-s", "--storage", choices=("mcap", "sqlite3"), default="mcap", help="storage")
    parser.add_argument(
        "-b",
        "--max-bag-size",
        type=whole("bag size", 0),
        default=0,
        metavar="BYTES",
        help="begin another file then",
    )
    parser.add_argument(
        "-d",
        "--max-bag-duration",
        type=whole("bag duration", 0),
        default=0,
        metavar="S",
        help="begin another file then",
    )
    parser.add_argument(
        "--storage-preset-profile",
        default="",
        help="none, zstd_fast or zstd_small, which compress parts of an MCAP file",
    )
    parser.add_argument(
        "--compression-mode",
        choices=("none", "file", "message"),
        default="none",
        help="compress each file when it is complete, or each message",
    )
    parser.add_argument("--compression-format", choices=("", "zstd"), default="", help="how to compress it")


def _add_arguments_without_effect(parser: argparse.ArgumentParser) -> None:
    """Add what ROS 2's recorder takes and what has no counterpart: nothing is converted, cached or typed."""
    parser.add_argument("-f", "--serialization-format", choices=("", "cdr"), default="cdr", help="cdr")
    for name in ("--compression-queue-size", "--compression-threads"):
        parser.add_argument(name, type=int, metavar="N", help="accepted for ROS 2's sake")
    parser.add_argument(
        "--disable-keyboard-controls", action="store_true", help="accepted for ROS 2's sake: no keys are read"
    )


def main(args: argparse.Namespace) -> int:
    """Record topics until interrupted."""
    from rclpy.executors import SingleThreadedExecutor
    from rosbag2_py import BagError, SequentialCompressionWriter, StorageOptions
    from rosbag2_py.errors import writing

    selection = _selection(args)
    uri = args.output or datetime.datetime.now().strftime("rosbag2_%Y_%m_%d-%H_%M_%S")
    options = StorageOptions(
        uri=uri,
        storage_id=args.storage,
        max_bagfile_size=args.max_bag_size,
        max_bagfile_duration=args.max_bag_duration,
        max_cache_size=args.max_cache_size,
        snapshot_mode=args.snapshot_mode,
        storage_preset_profile=args.storage_preset_profile,
        custom_data=_pairs(args.custom_data),
    )
    overrides = read_overrides(args.qos_profile_overrides_path)
    # A launch ends its children with SIGINT, a service manager with SIGTERM: both complete the bag, also
    # SIGINT where a shell started the program in the background and told it to ignore it. The handler only
    # notes it, so that no message is cut off while it is written.
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stopped.set())
    with (
        writing(uri),
        cli_node(args.node_name) as node,
        SequentialCompressionWriter(_compression(args)) as writer,
    ):
        try:
            writer.open(options)
        except BagError:
            raise
        except (OSError, ValueError) as error:
            raise CliError(f"cannot write a bag to '{uri}': {error}") from error
        set_level(node, args.log_level)
        recorder = Recorder(
            node,
            writer,
            selection,
            overrides,
            args.polling_interval / 1000,
            unpublished=args.include_unpublished_topics,
            discovery=not args.no_discovery,
            now=follow_simulated_time(node) if args.use_sim_time else None,
            paused=args.start_paused,
        )
        RecordServices(node, recorder, snapshots=args.snapshot_mode)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        recorder.start()
        while not stopped.is_set():
            executor.spin_once(timeout_sec=STOP_POLL_S)
        recorder.catch_up()
        node.get_logger().info(f"Recording stopped, {recorder.count} messages in '{uri}'")
    return 0


def _compression(args: argparse.Namespace) -> CompressionOptions:
    """How the bag is compressed."""
    from rosbag2_py import CompressionOptions, compression_mode_from_string

    if args.compression_mode != "none" and not args.compression_format:
        raise CliError("--compression-mode needs --compression-format zstd")
    return CompressionOptions(args.compression_format, compression_mode_from_string(args.compression_mode))


def _selection(args: argparse.Namespace) -> Selection:
    names = [full_name(topic) for topic in (*args.topics, *args.more_topics)]
    if not (args.all or names or args.regex or args.topic_types):
        raise CliError("nothing to record; name topics, or use --all, --regex or --topic-types")
    check_patterns(args.regex, args.exclude_regex)
    return Selection(
        everything=args.all,
        names=names,
        regex=args.regex,
        exclude_names=[full_name(topic) for topic in args.exclude_topics],
        exclude_regex=args.exclude_regex,
        types=args.topic_types,
        exclude_types=args.exclude_topic_types,
        hidden=args.include_hidden_topics,
    )


def _pairs(words: list[str]) -> dict[str, str]:
    pairs = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator:
            raise CliError(f"malformed custom data '{word}'; write key=value")
        pairs[key] = value
    return pairs
