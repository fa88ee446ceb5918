"""QoS profiles as bags keep them: mappings in the order and spelling of rosbag2's version 9."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.duration import Duration
    from rclpy.qos import QoSProfile

_POLICIES = ("history", "reliability", "durability", "liveliness")
_DURATIONS = ("deadline", "lifespan", "liveliness_lease_duration")
KEYS = ("depth", *_POLICIES, *_DURATIONS, "avoid_ros_namespace_conventions")
"""What a profile is made of."""
_INFINITE = {"sec": 9223372036, "nsec": 854775807}


def to_mapping(profile: QoSProfile) -> dict[str, Any]:
    """Return a profile as a mapping of plain values."""
    policies = {name: getattr(profile, name).name.lower() for name in _POLICIES}
    times = {name: _duration(getattr(profile, name).nanoseconds) for name in _DURATIONS}
    return {
        "history": policies["history"],
        "depth": profile.depth,
        "reliability": policies["reliability"],
        "durability": policies["durability"],
        "deadline": times["deadline"],
        "lifespan": times["lifespan"],
        "liveliness": policies["liveliness"],
        "liveliness_lease_duration": times["liveliness_lease_duration"],
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def _duration(nanoseconds: int) -> dict[str, int]:
    if nanoseconds <= 0 or nanoseconds >= 2**63 - 1:
        return dict(_INFINITE)
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


def from_mapping(values: dict[str, Any]) -> QoSProfile:
    """Return the profile of a mapping; numbers for policies, as older bags have them, are understood.

    Raises:
        ValueError: a policy is unknown.
    """
    from rclpy import qos

    try:
        profile = qos.QoSProfile(depth=int(values.get("depth", 10)))
    except (TypeError, ValueError):
        raise ValueError(f"QoS policy depth is {values['depth']!r}; write a number") from None
    for name, policy in zip(
        _POLICIES,
        (qos.HistoryPolicy, qos.ReliabilityPolicy, qos.DurabilityPolicy, qos.LivelinessPolicy),
        strict=True,
    ):
        value = values.get(name)
        if value is None:
            continue
        try:
            setattr(profile, name, policy(value) if isinstance(value, int) else policy[value.upper()])
        except (AttributeError, KeyError, ValueError):
            raise ValueError(
                f"QoS policy {name} is {value!r}; known: {[one.name for one in policy]}"
            ) from None
    for name in _DURATIONS:
        if values.get(name) is not None:
            setattr(profile, name, _span(name, values[name]))
    return profile


def _span(name: str, value: Any) -> Duration:
    from rclpy.duration import Duration

    try:
        return Duration(nanoseconds=int(value["sec"]) * 10**9 + int(value["nsec"]))
    except (KeyError, OverflowError, TypeError, ValueError):
        raise ValueError(f"QoS policy {name} is {value!r}; write {{sec: 1, nsec: 0}}") from None


def adapted(profiles: Iterable[QoSProfile]) -> QoSProfile:
    """Return the profile that gets all that publishers with these profiles send.

    Reliable or transient local only if each of them is: a stricter subscription would not match the others.
    The queue is as long as the longest of them, and no longer than `MOST_ADOPTED_DEPTH`.
    """
    from rclpy import qos
    from ros2_embedded.wire.qos_text import MOST_ADOPTED_DEPTH

    listed = list(profiles)
    profile = qos.QoSProfile(depth=min(max([10, *(one.depth for one in listed)]), MOST_ADOPTED_DEPTH))
    if not all(one.reliability == qos.ReliabilityPolicy.RELIABLE for one in listed):
        profile.reliability = qos.ReliabilityPolicy.BEST_EFFORT
    if listed and all(one.durability == qos.DurabilityPolicy.TRANSIENT_LOCAL for one in listed):
        profile.durability = qos.DurabilityPolicy.TRANSIENT_LOCAL
    return profile
