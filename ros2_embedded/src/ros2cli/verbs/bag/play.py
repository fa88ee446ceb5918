"""ros2 bag play."""

from __future__ import annotations

import argparse
import re
import time
from contextlib import nullcontext

from ...bag.overrides import read_overrides
from ...bag.pace import KEYS, Pace, keyboard
from ...bag.play_services import PlayServices, served
from ...bag.player import Player, parse_remappings
from ...bag.recorder import set_level
from ...common_arguments import finite, not_negative, positive
from ...errors import CliError, check_patterns
from ...node import cli_node, full_name

_CLOCK_HZ = 40.0
_DISCOVERY_S = 0.2  # subscriptions find a new publisher within milliseconds; a busy machine takes longer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("bag_path", help="directory of the bag, or a single MCAP or SQLite file")
    parser.add_argument("-s", "--storage", default="", help="accepted for ROS 2's sake: the bag itself says")
    parser.add_argument("-r", "--rate", type=positive("rate"), default=1.0, help="speed, 1 as recorded")
    parser.add_argument("-l", "--loop", action="store_true", help="begin again at the end, until interrupted")
    parser.add_argument(
        "-d", "--delay", type=not_negative("delay"), default=0.0, metavar="S", help="wait before playing"
    )
    parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="only these topics")
    parser.add_argument("-e", "--regex", default="", help="only topics in which this is found")
    parser.add_argument("-x", "--exclude-regex", default="", help="leave out topics in which this is found")
    parser.add_argument(
        "--exclude-topics", nargs="+", default=[], metavar="TOPIC", help="leave out these topics"
    )
    parser.add_argument(
        "-m", "--remap", nargs="+", default=[], metavar="OLD:=NEW", help="new names of topics"
    )
    parser.add_argument(
        "--start-offset",
        type=not_negative("start offset"),
        default=0.0,
        metavar="S",
        help="skip so much at the beginning",
    )
    parser.add_argument(
        "--playback-duration",
        type=finite("playback duration"),
        default=-1.0,
        metavar="S",
        help="play so much of the bag; negative: all. With an end as well, the later one counts",
    )
    until = parser.add_mutually_exclusive_group()
    until.add_argument(
        "--playback-until-sec", type=finite("playback end"), metavar="S", help="play up to this time stamp"
    )
    until.add_argument("--playback-until-nsec", type=int, metavar="NS", help="the same; negative: no end")
    parser.add_argument(
        "--clock",
        type=positive("clock"),
        nargs="?",
        const=_CLOCK_HZ,
        default=0.0,
        metavar="HZ",
        help="publish /clock as well",
    )
    parser.add_argument("--qos-profile-overrides-path", metavar="FILE", help="QoS of topics, as YAML")
    parser.add_argument("-p", "--start-paused", action="store_true", help="wait for the space bar")
    parser.add_argument(
        "--disable-keyboard-controls", action="store_true", help="read no keys from the terminal"
    )
    parser.add_argument("--log-level", default="info", help="of the player: debug, info, warn, error, fatal")
    parser.add_argument("--wait-for-all-acked", type=int, metavar="MS", help="accepted for ROS 2's sake")
    parser.add_argument("--disable-loan-message", action="store_true", help="accepted for ROS 2's sake")
    parser.add_argument(
        "--read-ahead-queue-size",
        type=int,
        metavar="N",
        help="accepted for ROS 2's sake: messages are read as they are due",
    )


def main(args: argparse.Namespace, burst: int | None = None) -> int:
    """Publish what a bag holds, in its own time.

    Args:
        args: the parsed arguments.
        burst: how many messages to publish at once instead, 0 for all.
    """
    from rosbag2_py import BagError, SequentialReader, StorageFilter, StorageOptions

    reader = SequentialReader()
    try:
        reader.open(StorageOptions(uri=args.bag_path, storage_id=args.storage))
    except BagError as error:
        raise CliError(str(error)) from error
    topics = _chosen(args, [topic.name for topic in reader.get_all_topics_and_types()])
    reader.set_filter(StorageFilter(topics=topics))
    with cli_node("rosbag2_player") as node:
        set_level(node, args.log_level)
        player = Player(
            node,
            reader,
            pace=Pace(args.rate, paused=args.start_paused or burst is not None),
            start_offset=args.start_offset,
            duration=args.playback_duration,
            until=_until(args),
            overrides=read_overrides(args.qos_profile_overrides_path),
            remappings=parse_remappings(args.remap),
            clock_rate=args.clock,
        )
        player.prepare(topics)
        time.sleep(_DISCOVERY_S + args.delay)
        node.get_logger().info(f"Playing {len(topics)} topic(s) of '{args.bag_path}' at rate {args.rate:g}")
        with (
            served(PlayServices(node, player)),
            keyboard(player.pace) if not args.disable_keyboard_controls else nullcontext(False) as has_keys,
        ):
            if has_keys:
                node.get_logger().info(". ".join(help_ for help_, _ in KEYS.values()))
            if burst is None:
                player.play()
            else:
                player.burst(burst)
            while args.loop and not player.pace.stopped:
                player.play()
        node.get_logger().info(f"Played {player.count} messages")
        time.sleep(_DISCOVERY_S)  # the last messages leave before the node does
    return 0


def _until(args: argparse.Namespace) -> int:
    """Return the time stamp up to which to play [ns], a negative number for none."""
    if args.playback_until_sec is not None:
        return round(args.playback_until_sec * 1e9)
    return -1 if args.playback_until_nsec is None else int(args.playback_until_nsec)


def _chosen(args: argparse.Namespace, known: list[str]) -> list[str]:
    check_patterns(args.regex, args.exclude_regex)
    named = [full_name(topic) for topic in args.topics]
    unknown = sorted(set(named) - set(known))
    if unknown:
        raise CliError(f"the bag has no topic {', '.join(unknown)}; it has: {', '.join(known) or 'none'}")
    excluded = {full_name(topic) for topic in args.exclude_topics}
    chosen = []
    for topic in known:
        wanted = topic in named or bool(args.regex and re.search(args.regex, topic))
        if not named and not args.regex:
            wanted = True
        if args.exclude_regex and re.search(args.exclude_regex, topic):
            wanted = False
        if wanted and topic not in excluded:
            chosen.append(topic)
    if not chosen:
        raise CliError(f"no topic is left to play; the bag has: {', '.join(known) or 'none'}")
    return chosen
