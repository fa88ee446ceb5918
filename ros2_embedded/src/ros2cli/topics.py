"""What the topic verbs share."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import CliError
from .interfaces import load
from .node import DISCOVERY_TIMEOUT_S, full_name, wait_for
from .qos import profile_from

if TYPE_CHECKING:
    from rclpy.node import Node
    from rclpy.qos import QoSProfile


def write(text: str) -> None:
    """Write to stdout at once, so that a pipe sees each message when it comes."""
    sys.stdout.write(text)
    sys.stdout.flush()


def wait_for_topic(node: Node, topic: str, longest_s: float | None = DISCOVERY_TIMEOUT_S) -> str:
    """Return the type of a topic as soon as somebody has it.

    Args:
        node: looks.
        topic: full name.
        longest_s: how long to look [s]; None: as long as it takes, with a warning after a while.

    Raises:
        CliError: nobody has it in time, or it has several types.
    """
    found: list[str] = []

    def look() -> bool:
        found[:] = dict(node.get_topic_names_and_types()).get(topic, [])
        return bool(found)

    missing = f"WARNING: topic [{topic}] does not appear to be published yet\n"
    if longest_s is None and not wait_for(look):
        write(missing)
        wait_for(look, float("inf"))
    elif longest_s is not None and not wait_for(look, longest_s):
        raise CliError(f"{missing}Could not determine the type for the passed topic")
    if len(found) > 1:
        raise CliError(f"topic '{topic}' has several types ({', '.join(found)}); name one")
    return found[0]


def subscription_profile(node: Node, topic: str, args: argparse.Namespace) -> QoSProfile:
    """Return the QoS that fits the topic's publishers, or what the arguments say."""
    others = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    return profile_from(args, others)


def spin(node: Node, callback: Callable[[], bool], period_s: float = 0.1) -> None:
    """Spin until `callback`, called at least every `period_s` seconds [s], returns True."""
    from rclpy.executors import SingleThreadedExecutor

    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not callback():
        executor.spin_once(timeout_sec=period_s)


def measure(
    node: Node, args: argparse.Namespace, take: Callable[[Any, float], None], report: Callable[[], str]
) -> None:
    """Subscribe to `args.topic`, pass each message with its arrival time [s] to `take`, print `report()` once
    a second.

    Waits until somebody publishes the topic. With `args.raw` messages arrive serialised. Ends only when
    interrupted, or after `args.duration` seconds if that is set.
    """
    topic = full_name(args.topic)
    longest = None if args.duration is None else max(args.duration, DISCOVERY_TIMEOUT_S)
    message_type = load("msg", wait_for_topic(node, topic, longest))
    profile = subscription_profile(node, topic, args)
    clock = _wall_time
    if getattr(args, "use_sim_time", False) and not getattr(args, "wall_time", False):
        simulated = follow_simulated_time(node)
        clock = lambda: simulated() / 1e9  # noqa: E731
    node.create_subscription(
        message_type, topic, lambda message: take(message, clock()), profile, raw=args.raw
    )
    start = next_report = time.monotonic()

    def tick() -> bool:
        nonlocal next_report
        now = time.monotonic()
        if now >= next_report + 1.0:
            next_report = now
            write(report())
        return args.duration is not None and now - start >= args.duration

    spin(node, tick)


def _wall_time() -> float:
    return time.monotonic()


def follow_simulated_time(node: Node) -> Callable[[], int]:
    """Have a node follow /clock, and return what gives its time [ns]."""
    from rclpy.parameter import Parameter

    node.set_parameters([Parameter("use_sim_time", value=True)])
    clock = node.get_clock()
    return lambda: clock.now().nanoseconds


def add_measure_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `measure` looks at."""
    from .common_arguments import whole
    from .qos import add_qos_arguments

    parser.add_argument("topic", help="name of the topic")
    parser.add_argument(
        "-w", "--window", type=whole("window", 1), default=10000, help="how many messages to average over"
    )
    parser.add_argument(
        "--duration", type=float, metavar="S", help="end after so many seconds; for ever by default"
    )
    parser.add_argument("-s", "--use-sim-time", action="store_true", help="measure in simulated time")
    add_qos_arguments(parser, "subscription")
