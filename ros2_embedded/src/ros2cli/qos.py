"""QoS from the command line and from the other side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .errors import CliError

if TYPE_CHECKING:
    from rclpy.qos import QoSProfile

PROFILES = (
    "default",
    "sensor_data",
    "services_default",
    "parameters",
    "parameter_events",
    "action_status_default",
    "system_default",
    "best_available",
    "unknown",
)


def add_qos_arguments(parser: argparse.ArgumentParser, subject: str) -> None:
    """Add `--qos-*` arguments for a publisher or subscription."""
    group = parser.add_argument_group(
        "QoS", f"of the {subject}; what is not given fits itself to the other side"
    )
    group.add_argument("--qos-profile", choices=PROFILES, help="a predefined profile")
    group.add_argument("--qos-depth", type=int, metavar="N", help="queue size")
    group.add_argument("--qos-history", choices=("keep_last", "keep_all", "system_default", "unknown"))
    group.add_argument(
        "--qos-reliability",
        choices=("reliable", "best_effort", "best_available", "system_default", "unknown"),
    )
    group.add_argument(
        "--qos-durability",
        choices=("volatile", "transient_local", "best_available", "system_default", "unknown"),
    )
    group.add_argument(
        "--qos-liveliness",
        choices=("automatic", "manual_by_topic", "best_available", "system_default", "unknown"),
    )
    group.add_argument("--qos-liveliness-lease-duration-seconds", type=float, metavar="S")


def profile_from(args: argparse.Namespace, others: Sequence[QoSProfile], *, depth: int = 10) -> QoSProfile:
    """Return the profile for a subscription or publisher.

    Without arguments: reliable if every endpoint on the other side is, transient local if every one is, as in
    ROS 2.

    Args:
        args: parsed arguments of `add_qos_arguments`.
        others: profiles of the endpoints on the other side, none if nothing is there.
        depth: queue size when none is given.
    """
    from rclpy import qos
    from ros2_embedded.wire.qos_text import MOST_ADOPTED_DEPTH

    profile = qos.QoSProfile(depth=depth)
    if args.qos_profile is not None:
        profile = _predefined(args.qos_profile)
    elif others:
        if not all(other.reliability == qos.ReliabilityPolicy.RELIABLE for other in others):
            profile.reliability = qos.ReliabilityPolicy.BEST_EFFORT
        if all(other.durability == qos.DurabilityPolicy.TRANSIENT_LOCAL for other in others):
            profile.durability = qos.DurabilityPolicy.TRANSIENT_LOCAL
            profile.depth = min(max([depth, *(other.depth for other in others)]), MOST_ADOPTED_DEPTH)
    if args.qos_depth is not None and args.qos_depth >= 0:  # ROS 2 has -1 for the default
        try:
            profile.depth = args.qos_depth
        except ValueError as error:
            raise CliError(f"--qos-depth: {error}") from error
    for name, policy in (
        ("history", qos.HistoryPolicy),
        ("reliability", qos.ReliabilityPolicy),
        ("durability", qos.DurabilityPolicy),
        ("liveliness", qos.LivelinessPolicy),
    ):
        word = getattr(args, f"qos_{name}")
        if word is not None:
            setattr(profile, name, policy[word.upper()])
    if args.qos_liveliness_lease_duration_seconds is not None:
        from rclpy.duration import Duration

        try:
            profile.liveliness_lease_duration = Duration(seconds=args.qos_liveliness_lease_duration_seconds)
        except (OverflowError, ValueError) as error:
            raise CliError(f"--qos-liveliness-lease-duration-seconds: {error}") from error
    return profile


def _predefined(name: str) -> Any:
    import copy

    from rclpy import qos

    attribute = {
        "default": "qos_profile_default",
        "sensor_data": "qos_profile_sensor_data",
        "services_default": "qos_profile_services_default",
        "parameters": "qos_profile_parameters",
        "parameter_events": "qos_profile_parameter_events",
        "action_status_default": "qos_profile_action_status_default",
        "system_default": "qos_profile_system_default",
        "best_available": "qos_profile_best_available",
        "unknown": "qos_profile_unknown",
    }[name]
    found = getattr(qos, attribute, None)
    if found is None:
        raise CliError(f"this rclpy has no QoS profile '{name}'")
    return copy.copy(found)


def describe_qos(profile: QoSProfile) -> list[str]:
    """Return the lines that `ros2 topic info -v` shows about a profile."""
    history = f"{profile.history.name}{f' ({profile.depth})' if profile.history.name == 'KEEP_LAST' else ''}"
    return [
        "QoS profile:",
        f"  Reliability: {profile.reliability.name}",
        f"  History (Depth): {history}",
        f"  Durability: {profile.durability.name}",
        f"  Lifespan: {_duration(profile.lifespan)}",
        f"  Deadline: {_duration(profile.deadline)}",
        f"  Liveliness: {profile.liveliness.name}",
        f"  Liveliness lease duration: {_duration(profile.liveliness_lease_duration)}",
    ]


def _duration(duration: Any) -> str:
    nanoseconds = duration.nanoseconds
    # 0 is rmw's default, which means no limit, as does the largest number.
    return "Infinite" if nanoseconds == 0 or nanoseconds >= 2**63 - 1 else f"{nanoseconds} nanoseconds"
