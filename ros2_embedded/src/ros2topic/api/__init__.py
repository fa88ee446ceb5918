"""Topics, as programs ask for them through the command line's functions."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.expand_topic_name import expand_topic_name
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSPresetProfiles,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden
from rclpy.validate_full_topic_name import validate_full_topic_name
from ros2cli.helpers import unsigned_int
from ros2cli.node.strategy import NodeStrategy
from rosidl_runtime_py import get_message_interfaces, message_to_yaml
from rosidl_runtime_py.utilities import get_message

__all__ = [
    "NodeStrategy",
    "TopicMessagePrototypeCompleter",
    "TopicNameCompleter",
    "TopicTypeCompleter",
    "add_qos_arguments",
    "choose_qos",
    "get_msg_class",
    "get_topic_names",
    "get_topic_names_and_types",
    "positive_float",
    "positive_int",
    "profile_configure_short_keys",
    "qos_profile_from_short_keys",
    "unsigned_int",
]
_POLL_S = 0.1


def positive_int(string: str) -> int:
    """Return a whole number above zero, for `argparse`."""
    value = int(string) if string.isdigit() else 0
    if value <= 0:
        raise argparse.ArgumentTypeError("value must be a positive integer")
    return value


def positive_float(string: str) -> float:
    """Return a number above zero, for `argparse`."""
    value = float(string)
    if not value > 0.0:
        raise argparse.ArgumentTypeError("value must be a positive number")
    return value


def get_topic_names_and_types(
    *, node: Any, include_hidden_topics: bool = False
) -> list[tuple[str, list[str]]]:
    """Return the topics of the graph and their types."""
    found = node.get_topic_names_and_types()
    return [entry for entry in found if include_hidden_topics or not topic_or_service_is_hidden(entry[0])]


def get_topic_names(*, node: Any, include_hidden_topics: bool = False) -> list[str]:
    """Return the topics of the graph."""
    found = get_topic_names_and_types(node=node, include_hidden_topics=include_hidden_topics)
    return [name for name, _ in found]


def get_msg_class(
    node: Any, topic: str, *, blocking: bool = False, include_hidden_topics: bool = False
) -> Any:
    """Return the message class of a topic.

    Args:
        node: who asks.
        topic: name, which may be relative to the node.
        blocking: wait until somebody has the topic.
        include_hidden_topics: look at topics whose name has a part that starts with an underscore too.

    Returns:
        The class, None when nobody has the topic.

    Raises:
        RuntimeError: the name is not valid, the topic has several types, or its type cannot be found.
    """
    found = _look_up(node, topic, include_hidden_topics)
    if found is None:
        sys.stdout.write(f"WARNING: topic [{topic}] does not appear to be published yet\n")
    while found is None and blocking and rclpy.ok(context=node.context):
        time.sleep(_POLL_S)
        found = _look_up(node, topic, include_hidden_topics)
    return found


def _look_up(node: Any, topic: str, include_hidden_topics: bool) -> Any:
    try:
        full = expand_topic_name(topic, node.get_name(), node.get_namespace())
        validate_full_topic_name(full)
    except (ValueError, rclpy.exceptions.InvalidTopicNameException) as error:
        raise RuntimeError(error) from error
    topics = dict(get_topic_names_and_types(node=node, include_hidden_topics=include_hidden_topics))
    types = topics.get(full)
    if not types:
        return None
    if len(types) > 1:
        raise RuntimeError(
            f"Cannot echo topic '{topic}', as it contains more than one type: [{', '.join(types)}]"
        )
    try:
        return get_message(types[0])
    except (AttributeError, ModuleNotFoundError, ValueError) as error:
        raise RuntimeError(f"The message type '{types[0]}' is invalid") from error


def profile_configure_short_keys(
    profile: QoSProfile | None = None,
    reliability: str | None = None,
    durability: str | None = None,
    depth: int | None = None,
    history: str | None = None,
    liveliness: str | None = None,
    liveliness_lease_duration_s: float | None = None,
) -> None:
    """Set the policies of a profile that are given by their short names, such as `best_effort`."""
    assert profile is not None, "a profile is needed"
    if history:
        profile.history = HistoryPolicy.get_from_short_key(history)
    if durability:
        profile.durability = DurabilityPolicy.get_from_short_key(durability)
    if reliability:
        profile.reliability = ReliabilityPolicy.get_from_short_key(reliability)
    if liveliness:
        profile.liveliness = LivelinessPolicy.get_from_short_key(liveliness)
    if liveliness_lease_duration_s is not None and liveliness_lease_duration_s >= 0:
        profile.liveliness_lease_duration = Duration(seconds=liveliness_lease_duration_s)
    if depth is not None and depth >= 0:
        profile.depth = depth
    elif profile.durability == DurabilityPolicy.TRANSIENT_LOCAL and profile.depth == 0:
        profile.depth = 1


def qos_profile_from_short_keys(
    preset_profile: str,
    reliability: str | None = None,
    durability: str | None = None,
    depth: int | None = None,
    history: str | None = None,
    liveliness: str | None = None,
    liveliness_lease_duration_s: float | None = None,
) -> QoSProfile:
    """Return a preset profile by its short name, such as `sensor_data`, with some policies replaced."""
    preset: QoSProfile = QoSPresetProfiles.get_from_short_key(preset_profile)
    profile = QoSProfile(**preset.get_c_qos_profile().to_dict())
    profile_configure_short_keys(
        profile, reliability, durability, depth, history, liveliness, liveliness_lease_duration_s
    )
    return profile


def add_qos_arguments(
    parser: argparse.ArgumentParser, entity_type: str, default_profile_str: str = "default"
) -> None:
    """Add the `--qos-...` arguments that `choose_qos` looks at."""
    parser.add_argument(
        "--qos-profile", choices=QoSPresetProfiles.short_keys(), help=f"preset to {entity_type} with"
    )
    parser.add_argument("--qos-depth", metavar="N", type=int, default=-1, help="queue size")
    parser.add_argument("--qos-history", choices=HistoryPolicy.short_keys())
    parser.add_argument("--qos-reliability", choices=ReliabilityPolicy.short_keys())
    parser.add_argument("--qos-durability", choices=DurabilityPolicy.short_keys())
    parser.add_argument("--qos-liveliness", choices=LivelinessPolicy.short_keys())
    parser.add_argument("--qos-liveliness-lease-duration-seconds", type=float)
    parser.set_defaults(default_profile_str=default_profile_str)


def choose_qos(node: Any, topic_name: str, qos_args: Any) -> QoSProfile:
    """Return the profile that the arguments ask for; without any, one that fits the topic's publishers."""
    from ros2cli.qos import profile_from

    profile_name: str | None = getattr(qos_args, "qos_profile", None)
    default = str(profile_name or getattr(qos_args, "default_profile_str", "default"))
    words = {
        name: getattr(qos_args, f"qos_{name}", None)
        for name in ("reliability", "durability", "depth", "history", "liveliness")
    }
    lease = getattr(qos_args, "qos_liveliness_lease_duration_seconds", None)
    explicit = any(value for name, value in words.items() if name != "depth") or (words["depth"] or -1) >= 0
    if profile_name or explicit or lease is not None:
        return qos_profile_from_short_keys(default, **words, liveliness_lease_duration_s=lease)
    others = [info.qos_profile for info in node.get_publishers_info_by_topic(topic_name)]
    return profile_from(argparse.Namespace(**_NO_QOS), others)


_NO_QOS: dict[str, Any] = {
    "qos_profile": None,
    "qos_depth": None,
    "qos_history": None,
    "qos_reliability": None,
    "qos_durability": None,
    "qos_liveliness": None,
    "qos_liveliness_lease_duration_seconds": None,
}


class TopicNameCompleter:
    """Completes topic names on a command line."""

    def __init__(self, *, include_hidden_topics_key: str | None = None) -> None:
        """Name the argument that asks for hidden topics."""
        self.include_hidden_topics_key = include_hidden_topics_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the topics of the graph."""
        hidden = bool(getattr(parsed_args, self.include_hidden_topics_key or "", False))
        with NodeStrategy(parsed_args) as node:
            return get_topic_names(node=node, include_hidden_topics=hidden)


class TopicTypeCompleter:
    """Completes message types on a command line."""

    def __init__(self, *, topic_name_key: str | None = None) -> None:
        """Name the argument that holds the topic."""
        self.topic_name_key = topic_name_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the types of the topic if there is one, else all."""
        topic = getattr(parsed_args, self.topic_name_key, None) if self.topic_name_key else None
        if topic:
            with NodeStrategy(parsed_args) as node:
                types = dict(get_topic_names_and_types(node=node, include_hidden_topics=True)).get(topic)
            if types:
                return types
        found = get_message_interfaces()
        return [f"{package}/{name}" for package, names in sorted(found.items()) for name in names]


class TopicMessagePrototypeCompleter:
    """Completes a message on a command line with its default values."""

    def __init__(self, *, topic_type_key: str | None = None) -> None:
        """Name the argument that holds the type."""
        self.topic_type_key = topic_type_key

    def __call__(self, prefix: str, parsed_args: Any, **_: Any) -> list[str]:
        """Return the message as YAML."""
        message = get_message(getattr(parsed_args, self.topic_type_key or ""))
        return [message_to_yaml(message())]
