"""The QoS field of a liveliness token, in the canonical form of rmw_zenoh: defaults are left empty.

It is `<reliability>:<durability>:<history>,<depth>:<deadline s>,<ns>:<lifespan s>,<ns>:<liveliness>,<lease
s>,<ns>`. Peers encode the decoded value again and hash it, so the form must be canonical.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import lru_cache

INFINITE_NS = 9223372036854775807  # rmw: 9223372036 s and 854775807 ns
DEFAULT_DEPTH = 42
MOST_ADOPTED_DEPTH = 1000
"""Longest queue made for the depth that a peer announces, which may be any; ROS's own profiles end there."""
RELIABLE, BEST_EFFORT = 1, 2
TRANSIENT_LOCAL, VOLATILE = 1, 2
KEEP_LAST, KEEP_ALL = 1, 2
AUTOMATIC = 1
_BILLION = 1_000_000_000


@dataclass(frozen=True)
class WireQoS:
    """A QoS profile, with policies as numbers of `rmw/types.h` and durations in ns."""

    reliability: int = RELIABLE
    durability: int = VOLATILE
    history: int = KEEP_LAST
    depth: int = DEFAULT_DEPTH
    deadline: int = INFINITE_NS
    lifespan: int = INFINITE_NS
    liveliness: int = AUTOMATIC
    lease: int = INFINITE_NS


DEFAULT = WireQoS()


def _number(value: int, default: int) -> str:
    return "" if value == default else str(value)


def _duration(value: int) -> str:
    return "," if value == INFINITE_NS else f"{value // _BILLION},{value % _BILLION}"


def encode(qos: WireQoS) -> str:
    """Return the canonical text, e.g. `::,10:,:,:,,` for reliable, volatile, keep last 10."""
    return ":".join(
        [
            _number(qos.reliability, DEFAULT.reliability),
            _number(qos.durability, DEFAULT.durability),
            f"{_number(qos.history, DEFAULT.history)},{_number(qos.depth, DEFAULT.depth)}",
            _duration(qos.deadline),
            _duration(qos.lifespan),
            f"{_number(qos.liveliness, DEFAULT.liveliness)},{_duration(qos.lease)}",
        ]
    )


def _parse_duration(seconds: str, nanoseconds: str) -> int:
    if not seconds and not nanoseconds:
        return INFINITE_NS
    return min(int(seconds or 0) * _BILLION + int(nanoseconds or 0), INFINITE_NS)


@lru_cache(maxsize=256)
def decode(text: str) -> WireQoS:
    """Return the profile of a QoS field. A graph of thousands of endpoints has few different ones.

    Raises:
        ValueError: the text does not have six fields, or their values are not valid in a profile.
    """
    reliability, durability, history, deadline, lifespan, liveliness = text.split(":")[:6]
    kind, depth = history.split(",")
    deadline_s, deadline_ns = deadline.split(",")
    lifespan_s, lifespan_ns = lifespan.split(",")
    automatic, lease_s, lease_ns = liveliness.split(",")
    profile = WireQoS(
        int(reliability or DEFAULT.reliability),
        int(durability or DEFAULT.durability),
        int(kind or DEFAULT.history),
        int(depth or DEFAULT.depth),
        _parse_duration(deadline_s, deadline_ns),
        _parse_duration(lifespan_s, lifespan_ns),
        int(automatic or DEFAULT.liveliness),
        _parse_duration(lease_s, lease_ns),
    )
    if min(astuple(profile)) < 0 or max(astuple(profile)) > INFINITE_NS:
        raise ValueError(f"number out of range in the QoS field {text!r:.100}")
    return profile
