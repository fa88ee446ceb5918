"""Recording and playing of bags from a program, by what `ros2 bag` does it with."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import BagError, writing
from .options import CompressionOptions, StorageFilter, StorageOptions, compression_mode_from_string
from .sequential_reader import SequentialReader
from .sequential_writer import SequentialCompressionWriter

if TYPE_CHECKING:
    from rclpy.logging import LoggingSeverity
    from rclpy.node import Node
    from rclpy.qos import QoSProfile

_POLL_S = 0.1  # an idle recorder looks so often whether it is to stop
_DISCOVERY_S = 0.2  # for subscriptions to find a new publisher


@dataclass
class RecordOptions:
    """What is recorded; the names of ROS 2's options, without those of services, keyboard and threads."""

    all_topics: bool = False
    topics: list[str] = field(default_factory=list)
    topic_types: list[str] = field(default_factory=list)
    exclude_topics: list[str] = field(default_factory=list)
    exclude_topic_types: list[str] = field(default_factory=list)
    regex: str = ""
    exclude_regex: str = ""
    include_hidden_topics: bool = False
    is_discovery_disabled: bool = False
    disable_keyboard_controls: bool = False
    rmw_serialization_format: str = "cdr"
    topic_polling_interval: datetime.timedelta = datetime.timedelta(milliseconds=100)
    node_prefix: str = ""
    compression_mode: str = ""
    compression_format: str = ""
    compression_queue_size: int = 1
    compression_threads: int = 0
    topic_qos_profile_overrides: dict[str, QoSProfile] = field(default_factory=dict)


@dataclass
class PlayOptions:
    """What is played and how; the names of ROS 2's options, without those of services and keyboard."""

    rate: float = 1.0
    topics_to_filter: list[str] = field(default_factory=list)
    regex_to_filter: str = ""
    exclude_topics_to_filter: list[str] = field(default_factory=list)
    exclude_regex_to_filter: str = ""
    topic_qos_profile_overrides: dict[str, QoSProfile] = field(default_factory=dict)
    topic_remapping_options: list[str] = field(default_factory=list)
    loop: bool = False
    clock_publish_frequency: float = 0.0
    delay: float = 0.0
    start_offset: float = 0.0
    playback_duration: float = -1.0
    playback_until_timestamp: int = -1
    start_paused: bool = False
    node_prefix: str = ""
    read_ahead_queue_size: int = 1000
    disable_keyboard_controls: bool = False
    wait_acked_timeout: int = -1


_RECORDERS: weakref.WeakSet[Recorder] = weakref.WeakSet()
_PLAYERS: weakref.WeakSet[Player] = weakref.WeakSet()


class Recorder:
    """Records topics to a bag until it is cancelled.

    Args:
        log_level: of its node; a RuntimeError where there is no such level.
    """

    def __init__(self, log_level: str = "info") -> None:
        from rclpy.logging import get_logging_severity_from_string

        self._severity = get_logging_severity_from_string(log_level)
        self._stopped = threading.Event()
        _RECORDERS.add(self)

    def record(
        self,
        storage_options: StorageOptions,
        record_options: RecordOptions,
        node_name: str = "rosbag2_recorder",
    ) -> None:
        """Record until `cancel` is called from another thread; Ctrl-C ends it as well, with a whole bag.

        Raises:
            BagError: the bag cannot be written.
        """
        from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
        from ros2cli.bag import recorder
        from ros2cli.bag.record_services import RecordServices

        self._stopped.clear()
        mode = compression_mode_from_string(record_options.compression_mode)
        compression = CompressionOptions(record_options.compression_format, mode)
        selection = recorder.Selection(
            everything=record_options.all_topics,
            names=[_full(name) for name in record_options.topics],
            regex=record_options.regex,
            exclude_names=[_full(name) for name in record_options.exclude_topics],
            exclude_regex=record_options.exclude_regex,
            types=record_options.topic_types,
            exclude_types=record_options.exclude_topic_types,
            hidden=record_options.include_hidden_topics,
        )
        name = record_options.node_prefix + node_name
        with (
            writing(storage_options.uri),
            _own_node(name, self._severity) as node,
            SequentialCompressionWriter(compression) as writer,
        ):
            writer.open(storage_options)
            executor = SingleThreadedExecutor(context=node.context)
            executor.add_node(node)
            period = record_options.topic_polling_interval.total_seconds()
            overrides = record_options.topic_qos_profile_overrides
            recording = recorder.Recorder(node, writer, selection, overrides, period)
            RecordServices(node, recording, snapshots=storage_options.snapshot_mode)
            recording.start()
            with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
                while not self._stopped.is_set():
                    executor.spin_once(timeout_sec=_POLL_S)
            recording.catch_up()

    @staticmethod
    def cancel() -> None:
        """End what all recorders of this process record."""
        for recorder in list(_RECORDERS):
            recorder._stopped.set()


class Player:
    """Plays a bag until its end, or until it is cancelled.

    Args:
        log_level: of its node; a RuntimeError where there is no such level.
    """

    def __init__(self, log_level: str = "info") -> None:
        from rclpy.logging import get_logging_severity_from_string

        self._severity = get_logging_severity_from_string(log_level)
        self._pace: Any = None
        _PLAYERS.add(self)

    def play(self, storage_options: StorageOptions, play_options: PlayOptions) -> None:
        """Publish what a bag holds, in its own time.

        Raises:
            BagError: the bag cannot be read.
        """
        self._play(storage_options, play_options, None)

    def burst(
        self, storage_options: StorageOptions, play_options: PlayOptions, num_messages: int = 0
    ) -> None:
        """Publish the first messages of a bag (0: all) as fast as they can be read.

        Raises:
            BagError: the bag cannot be read.
        """
        self._play(storage_options, play_options, num_messages)

    def _play(self, storage_options: StorageOptions, play_options: PlayOptions, burst: int | None) -> None:
        from ros2cli.bag import player
        from ros2cli.bag.pace import Pace

        options = play_options
        reader = SequentialReader()
        reader.open(storage_options)
        chosen = StorageFilter(
            topics=[_full(name) for name in options.topics_to_filter],
            regex=options.regex_to_filter,
            exclude_topics=[_full(name) for name in options.exclude_topics_to_filter],
            regex_to_exclude=options.exclude_regex_to_filter,
        )
        reader.set_filter(chosen)
        names = [topic.name for topic in reader.get_all_topics_and_types() if chosen.wants(topic.name)]
        pace = self._pace = Pace(options.rate, paused=options.start_paused or burst is not None)
        with _own_node(f"{options.node_prefix}rosbag2_player", self._severity) as node:
            playing = player.Player(
                node,
                reader,
                pace=pace,
                start_offset=options.start_offset,
                duration=options.playback_duration,
                until=options.playback_until_timestamp,
                overrides=options.topic_qos_profile_overrides,
                remappings=player.parse_remappings(_pairs(options.topic_remapping_options)),
                clock_rate=options.clock_publish_frequency,
            )
            playing.prepare(names)
            time.sleep(_DISCOVERY_S + options.delay)
            if burst is None:
                playing.play()
            else:
                playing.burst(burst)
            while options.loop and not pace.stopped:
                playing.play()
            time.sleep(_DISCOVERY_S)  # the last messages leave before the node does

    @staticmethod
    def cancel() -> None:
        """End what all players of this process play."""
        for player in list(_PLAYERS):
            if player._pace is not None:
                player._pace.stop()


def bag_rewrite(input_options: list[StorageOptions], output_config_file: str) -> None:
    """Write bags anew, as `ros2 bag convert` does.

    Args:
        input_options: the bags; several are merged by time.
        output_config_file: YAML with a list `output_bags`.

    Raises:
        RuntimeError: a bag cannot be read or written, or the file is wrong.
    """
    from ros2cli.errors import CliError
    from ros2cli.verbs.bag import convert

    inputs = [[options.uri, options.storage_id] for options in input_options]
    try:
        convert.main(argparse.Namespace(input=inputs, output_options=output_config_file))
    except CliError as error:
        raise BagError(str(error)) from error


@contextlib.contextmanager
def _own_node(name: str, severity: LoggingSeverity) -> Iterator[Node]:
    """A node in a context of its own, so that it needs no `rclpy.init` and outlives no block."""
    import rclpy

    context = rclpy.Context()
    context.init(args=[])
    node = rclpy.create_node(name, context=context, start_parameter_services=False)
    node.get_logger().set_level(severity)
    try:
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()


def _full(name: str) -> str:
    """The name of a topic with its leading slash."""
    return name if name.startswith("/") else f"/{name}"


def _pairs(words: list[str]) -> list[str]:
    """The pairs `old:=new` among words such as `--ros-args --remap old:=new`."""
    return [word for word in words if ":=" in word]
