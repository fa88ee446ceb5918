"""Finds instants at which every stream has a message, by equal stamps or by the nearest ones within a tolerance."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
SET_BACK_NS = 1_000_000_000
"""[ns] by which a stamp must be older than the newest of its stream to mean that the clock was set back.

A smaller difference means that the message arrived out of order.
"""
APART = 10
"""Consecutive instants with a stamp outside the tolerance that count as a fault.

Fewer occur without one, for example by an image from before the first state, or by a late state.
"""


class StampSynchroniser(Generic[T]):
    """Collects the messages of an instant by equal stamps.

    The bridge gives all messages of an instant the same stamp. Approximate matching would hide that a camera lags
    behind the joints.
    """

    def __init__(self, streams: Iterable[str], depth: int = 64) -> None:
        """Take the streams.

        Args:
            streams: their names.
            depth: number of messages that are kept of each.
        """
        self._rings: dict[str, OrderedDict[int, T]] = {name: OrderedDict() for name in streams}
        self._depth = depth

    def add(self, stream: str, stamp_ns: int, message: T) -> dict[str, T] | None:
        """Store a message; return the messages of its instant by stream, if all are there, else None.

        A repeated message of a complete instant returns them again, since a bridge in lockstep mode repeats its newest
        observation for late subscribers.
        """
        ring = self._rings[stream]
        ring[stamp_ns] = message
        ring.move_to_end(stamp_ns)
        while len(ring) > self._depth:
            ring.popitem(last=False)
        found = {name: other[stamp_ns] for name, other in self._rings.items() if stamp_ns in other}
        return found if len(found) == len(self._rings) else None

    def clear(self) -> None:
        """Drop all messages, after the clock was set back, so that stamps come again."""
        for ring in self._rings.values():
            ring.clear()


class NearestSynchroniser(Generic[T]):
    """Matches the images of free-running cameras with each other and with the robot's states.

    Among the cameras the one whose newest image is the oldest sets the instant: it is the stamp of its newest image
    that is not newer than the newest state. By then every other stream has a newer message, so its message nearest to
    the instant is known, and the result does not depend on the order of arrival. Instants only increase. An instant
    with a nearest message outside the tolerance is incomplete, so a camera that lags behind the joints is noticed.
    """

    def __init__(self, cameras: Sequence[str], state: str, tolerance_ns: int, depth: int = 64) -> None:
        """Take the streams.

        Args:
            cameras: names of the streams of images, at least one.
            state: name of the stream of the robot's states.
            tolerance_ns: [ns] by which a stamp may differ from the instant.
            depth: number of messages that are kept of each stream.
        """
        self._cameras, self._state, self._tolerance_ns, self._depth = (
            tuple(cameras),
            state,
            tolerance_ns,
            depth,
        )
        self._stamps: dict[str, list[int]] = {name: [] for name in (*cameras, state)}
        self._messages: dict[tuple[str, int], T] = {}
        self._found_ns = -1
        self._incomplete = 0
        self.apart = ""
        """Fault: which stream is outside the tolerance, and by how much; empty: fewer than APART instants were."""

    def add(self, stream: str, stamp_ns: int, message: T) -> dict[str, T] | None:
        """Store a message; return one of each stream, by stream, if a new instant is complete, else None."""
        stamps = self._stamps[stream]
        if stamps and stamp_ns < stamps[-1] - SET_BACK_NS:
            self._forget_after(stream, stamp_ns)
        if (stream, stamp_ns) not in self._messages:
            insort(stamps, stamp_ns)
        self._messages[stream, stamp_ns] = message
        while len(stamps) > self._depth:
            del self._messages[stream, stamps.pop(0)]
        if not all(self._stamps.values()):
            return None
        behind = min(self._cameras, key=lambda name: self._stamps[name][-1])
        known = bisect_right(self._stamps[behind], self._stamps[self._state][-1])
        instant = self._stamps[behind][known - 1] if known else self._found_ns
        if instant <= self._found_ns:
            return None
        self._found_ns = instant
        nearest = {name: _nearest(stamps, instant) for name, stamps in self._stamps.items()}
        off = {name: abs(stamp - instant) for name, stamp in nearest.items()}
        worst = max(off, key=lambda name: off[name])
        if off[worst] > self._tolerance_ns:
            self._incomplete += 1
            if self._incomplete < APART:
                return None
            self.apart = (
                f"{worst} and the pictures of camera '{behind}' are stamped {1e-9 * off[worst]:.3f} s apart at least, "
                f"arm.pairing_s of the scene allows {1e-9 * self._tolerance_ns:g} s; see `openral robot check`"
            )
            return None
        self._incomplete, self.apart = 0, ""
        return {name: self._messages[name, stamp] for name, stamp in nearest.items()}

    def forget_after(self, now_ns: int) -> None:
        """Drop messages with a stamp later than `now_ns` [ns], after the clock was set back."""
        for name in self._stamps:
            self._forget_after(name, now_ns)

    def _forget_after(self, stream: str, stamp_ns: int) -> None:
        stamps = self._stamps[stream]
        self._found_ns = -1 if self._found_ns > stamp_ns else self._found_ns
        while stamps and stamps[-1] > stamp_ns:
            del self._messages[stream, stamps.pop()]


def _nearest(stamps: Sequence[int], instant: int) -> int:
    """Return the element of a sorted sequence that is nearest to an instant; of two equally near, the earlier."""
    place = bisect_left(stamps, instant)
    return min(stamps[max(place - 1, 0) : place + 1], key=lambda stamp: abs(stamp - instant))
