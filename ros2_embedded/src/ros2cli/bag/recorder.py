"""Recording of topics."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from rosbag2_py import SequentialWriter, TopicMetadata
from rosbag2_py.qos_profiles import adapted, to_mapping

from ..errors import CliError
from ..interfaces import load
from ..node import is_hidden, settle

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.qos import QoSProfile
    from rclpy.subscription import Subscription

FLUSH_PERIOD_S = 0.5
"""A crash loses what came after the last flush: half of the second that is allowed."""


@dataclass(frozen=True)
class Selection:
    """Which topics to record: those named, those that a regular expression finds, or all; some are excluded.

    Attributes:
        everything: whether to record all topics that are not hidden.
        names: full names of topics.
        regex: records every topic in which it is found.
        exclude_names: full names of topics to leave out.
        exclude_regex: leaves out every topic in which it is found.
        types: records every topic of these types.
        exclude_types: leaves out every topic of these types.
        hidden: whether names with a leading underscore count.
    """

    everything: bool = False
    names: Collection[str] = ()
    regex: str = ""
    exclude_names: Collection[str] = ()
    exclude_regex: str = ""
    types: Collection[str] = ()
    exclude_types: Collection[str] = ()
    hidden: bool = False

    def wants(self, topic: str, type_name: str) -> bool:
        """Return whether to record a topic of a type."""
        if topic in self.names:
            return True
        if topic in self.exclude_names or type_name in self.exclude_types:
            return False
        if self.exclude_regex and re.search(self.exclude_regex, topic):
            return False
        if is_hidden(topic) and not self.hidden:
            return False
        found = bool(self.regex and re.search(self.regex, topic))
        return self.everything or found or type_name in self.types


def set_level(node: Node, level: str) -> None:
    """Set the level of a node's logger by its name; raise CliError for another word."""
    from rclpy.logging import get_logging_severity_from_string

    try:
        node.get_logger().set_level(get_logging_severity_from_string(level))
    except (RuntimeError, ValueError) as error:
        raise CliError(f"'{level}' is no log level; use debug, info, warn, error or fatal") from error


@dataclass
class Recorder:
    """Subscribes to topics as they appear and writes their messages to a bag.

    Attributes:
        node: a node that somebody else spins.
        writer: an open bag.
        selection: what to record.
        overrides: QoS profiles of topics by name, in place of what fits their publishers.
        poll_period: how often to look for new topics [s].
        unpublished: whether to subscribe to topics that nobody publishes yet.
        discovery: whether to look for topics after the beginning.
        now: gives the time to write for a message [ns], such as simulated time; None: when it was received,
            which may be a while before it is written.
        paused: whether what comes is not written.
    """

    node: Node
    writer: SequentialWriter
    selection: Selection
    overrides: dict[str, QoSProfile] = field(default_factory=dict)
    poll_period: float = 0.1
    unpublished: bool = False
    discovery: bool = True
    now: Callable[[], int] | None = None
    paused: bool = False
    count: int = 0
    _refused: set[str] = field(default_factory=set)
    _subscribed: dict[str, Subscription] = field(default_factory=dict)

    def start(self) -> None:
        """Begin; messages are written while the node is spun."""
        from rclpy.clock import Clock, ClockType

        steady = Clock(clock_type=ClockType.STEADY_TIME)  # goes on where simulated time stands still
        logger = self.node.get_logger()
        logger.info("Listening for topics...")
        if not self.discovery:
            settle(self.node)
        self._look()
        if self.discovery:
            self.node.create_timer(self.poll_period, self._look, clock=steady)
        self.node.create_timer(FLUSH_PERIOD_S, self.writer.flush, clock=steady)
        logger.info("Recording...")

    def _look(self) -> None:
        """Subscribe to the topics that have appeared."""
        for topic, types in self.node.get_topic_names_and_types():
            if topic in self._subscribed or topic in self._refused:
                continue
            if self.selection.wants(topic, types[0]):
                self._subscribe(topic, types)

    def _subscribe(self, topic: str, types: list[str]) -> None:
        logger = self.node.get_logger()
        if len(types) > 1:
            self._refused.add(topic)
            logger.warning(f"Topic '{topic}' has several types ({', '.join(types)}): not recorded")
            return
        publishers = self.node.get_publishers_info_by_topic(topic)
        if not publishers and topic not in self.overrides and not self.unpublished:
            return  # its QoS is known only when somebody publishes
        try:
            message_type = load("msg", types[0])
        except CliError as error:
            self._refused.add(topic)
            logger.warning(f"Topic '{topic}' is not recorded: {error}")
            return
        offered = [info.qos_profile for info in publishers]
        self.writer.create_topic(
            TopicMetadata(len(self._subscribed), topic, types[0], "cdr", [to_mapping(one) for one in offered])
        )
        profile = self.overrides.get(topic) or adapted(offered)
        self._subscribed[topic] = self.node.create_subscription(
            message_type, topic, partial(self._take, topic), profile, raw=True
        )
        logger.info(f"Subscribed to topic '{topic}'")

    def catch_up(self) -> None:
        """Write what has come and still waits for the node to be spun, the oldest first.

        A request to pause or to take a snapshot may be answered before messages that came earlier, and the
        recording may end before them.
        """
        waiting = []
        for topic, subscription in self._subscribed.items():
            while subscription.is_pending():
                if (taken := subscription.take_message()) is not None:
                    waiting.append((topic, *taken))
        for topic, data, info in sorted(waiting, key=lambda each: each[2]["received_timestamp"]):
            self._take(topic, data, info)

    def _take(self, topic: str, data: Any, info: Any) -> None:
        if self.paused:
            return
        published = info["source_timestamp"]  # of somebody, who may have written anything there
        received = info["received_timestamp"] if self.now is None else self.now()
        self.writer.write(topic, bytes(data), received, published if published >= 0 else None)
        self.count += 1
