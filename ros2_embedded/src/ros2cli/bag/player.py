"""Playing of bags."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rosbag2_py import SequentialReader, StorageFilter
from rosbag2_py.qos_profiles import adapted, from_mapping

from ..errors import CliError
from ..interfaces import load
from .pace import Pace

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.publisher import Publisher
    from rclpy.qos import QoSProfile

_NS = 10**9


@dataclass
class Player:
    """Publishes the messages of a bag as they were recorded.

    Attributes:
        node: the node that publishes; it is spun only for services of its own.
        reader: an open bag, its filter set.
        pace: how fast, and what keys change.
        start_offset: what to skip at the beginning [s].
        duration: how much of the bag to play [s], negative for all.
        until: time stamp up to which to play [ns], negative for none; the later end counts.
        overrides: QoS profiles by topic, in place of the recorded ones.
        remappings: new names of topics.
        clock_rate: how often to publish /clock [Hz], 0 for never.
    """

    node: Node
    reader: SequentialReader
    pace: Pace = field(default_factory=Pace)
    start_offset: float = 0.0
    duration: float = -1.0
    until: int = -1
    overrides: dict[str, QoSProfile] = field(default_factory=dict)
    remappings: dict[str, str] = field(default_factory=dict)
    clock_rate: float = 0.0
    count: int = 0
    _publishers: dict[str, Publisher[Any]] = field(default_factory=dict)
    _clock: Publisher[Any] | None = None

    def prepare(self, topics: list[str]) -> None:
        """Make the publishers of these topics.

        Topics whose types no package provides are left out, with a warning, and their messages not read.

        Raises:
            CliError: none of the types is provided, or a recorded profile is none.
        """
        unknown: list[CliError] = []
        types = {topic.name: topic for topic in self.reader.get_all_topics_and_types()}
        for name in topics:
            topic = types[name]
            target = self.remappings.get(name, name)
            try:
                recorded = [from_mapping(values) for values in topic.offered_qos_profiles]
            except ValueError as error:
                raise CliError(f"topic '{name}' of the bag: {error}") from error
            profile = self.overrides.get(name) or adapted(recorded)
            try:
                if topic.serialization_format not in ("", "cdr"):
                    raise CliError(f"its messages are in {topic.serialization_format}, not in cdr")
                message_type = load("msg", topic.type)
            except CliError as error:
                unknown.append(error)
                self.node.get_logger().warning(f"Ignoring a topic '{name}', reason: {error}")
                continue
            self._publishers[name] = self.node.create_publisher(message_type, target, profile)
        if unknown and not self._publishers:
            raise unknown[0]
        if unknown:
            self.reader.set_filter(StorageFilter(topics=list(self._publishers)))
        if self.clock_rate:
            self._clock = self.node.create_publisher(load("msg", "rosgraph_msgs/msg/Clock"), "/clock", 10)
        self.node.get_logger().info(f"Playback until timestamp: {self.until}")

    def burst(self, count: int) -> None:
        """Publish the next messages at once, so many or (0) all, and return; the pace must stand still."""

        def let_through() -> None:
            self.pace.burst(count)
            self.pace.stop()

        threading.Thread(target=let_through, name="burst", daemon=True).start()
        self.play()

    def play(self) -> None:
        """Publish all messages, each at its time; return behind the last, or when the pace says stop."""
        metadata = self.reader.get_metadata()
        first = metadata.starting_time_ns + round(self.start_offset * _NS)
        ends = [first + round(self.duration * _NS)] if self.duration >= 0 else []
        last = max([*ends, *([self.until] if self.until >= 0 else [])], default=None)
        begin: int | None = first
        while begin is not None:
            self.reader.seek(begin)
            self.pace.begin(begin)
            begin = self._play_from(begin, last)

    def _play_from(self, first: int, last: int | None) -> int | None:
        """Publish from where the reader stands; return the moment [ns] to go on at, None at the end."""
        clock_ticks = self._clock_ticks(first)
        next_tick = next(clock_ticks)
        while self.reader.has_next():
            topic, data, stamp = self.reader.read_next()
            if last is not None and stamp > last:
                break
            while next_tick <= stamp:
                if not self.pace.wait(next_tick, is_message=False):
                    return self.pace.jumped()
                self._publish_clock(next_tick)
                next_tick = next(clock_ticks)
            if not self.pace.wait(stamp):
                return self.pace.jumped()
            self._publishers[topic].publish(data)
            self.count += 1
            self.pace.published()
        self.pace.end()
        return self.pace.jumped()

    def _clock_ticks(self, first: int) -> Iterator[int]:
        """Yield the moments of the bag [ns] at which /clock is due; none is ever reached without a clock."""
        if not self.clock_rate:
            while True:
                yield 2**63
        passed = 0.0  # a float keeps the nanoseconds of a recording, not those since the epoch
        while True:
            yield first + int(passed)
            passed += max(_NS * self.pace.rate / self.clock_rate, 1.0)

    def _publish_clock(self, stamp: int) -> None:
        assert self._clock is not None  # ticks are only reached with a clock
        from rosgraph_msgs.msg import Clock

        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(stamp, _NS)
        self._clock.publish(message)


def parse_remappings(words: list[str]) -> dict[str, str]:
    """Return new names by old ones from words `old:=new`; raise CliError for any other word."""
    pairs = {}
    for word in words:
        old, separator, new = word.partition(":=")
        if not (old and separator and new):
            raise CliError(f"malformed remapping '{word}'; write old:=new")
        pairs[old if old.startswith("/") else f"/{old}"] = new
    return pairs
