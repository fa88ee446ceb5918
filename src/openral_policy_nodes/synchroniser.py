"""Finds the newest instant for which every stream has a message: by equal stamps, or the nearest within a tolerance."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
SET_BACK_NS = 1_000_000_000
"""[ns] by which a stamp is older than the newest of its stream when a clock was set back; less is a message that was
overtaken."""
APART = 10
"""Instants in a row that are incomplete for a stamp that is too far off, until that is a fault: one picture from before
the first state, or one state that came late, is none."""


class StampSynchroniser(Generic[T]):
    """One short ring of messages a stream, keyed by stamp.

    The bridge stamps everything of one instant equally, so equality is the test; approximate pairing would hide a
    camera that lags behind the joints.
    """

    def __init__(self, streams: Iterable[str], depth: int = 64) -> None:
        """Take the names of the streams and how many messages of each may wait for their partners."""
        self._rings: dict[str, OrderedDict[int, T]] = {name: OrderedDict() for name in streams}
        self._depth = depth

    def add(self, stream: str, stamp_ns: int, message: T) -> dict[str, T] | None:
        """Store a message; return the complete set of its instant, keyed by stream, if it completes one.

        A repeated message of an instant that is complete already returns the set again: a bridge in lockstep mode
        repeats its newest observation for late subscribers.
        """
        ring = self._rings[stream]
        ring[stamp_ns] = message
        ring.move_to_end(stamp_ns)
        while len(ring) > self._depth:
            ring.popitem(last=False)
        found = {name: other[stamp_ns] for name, other in self._rings.items() if stamp_ns in other}
        return found if len(found) == len(self._rings) else None


class NearestSynchroniser(Generic[T]):
    """Puts the pictures of free-running cameras together with each other and with the robot's state.

    The instant is that of the newest picture of the camera that is furthest behind, of those that are no newer than the
    newest state. Every other stream has a newer message then, so that it is known which message of each is the
    nearest: the result does not depend on what arrived first. Instants only rise. A stream whose nearest message is too
    far off leaves the instant incomplete, so that a camera that lags behind the joints does not pass for one that
    does not.
    """

    def __init__(self, cameras: Sequence[str], state: str, tolerance_ns: int, depth: int = 64) -> None:
        """Take the streams.

        Args:
            cameras: names of the streams of pictures, at least one.
            state: name of the stream of the robot's states.
            tolerance_ns: [ns] by which a stamp may differ from that of the instant.
            depth: messages of each stream that are kept.
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
        """Which stream is too far off, and by how much; empty: instants are complete, or were a moment ago."""

    def add(self, stream: str, stamp_ns: int, message: T) -> dict[str, T] | None:
        """Store a message; return one of each stream, keyed by stream, if the newest instant is complete now."""
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
        """Forget what is stamped later than `now_ns` [ns]: the clock was set back."""
        for name in self._stamps:
            self._forget_after(name, now_ns)

    def _forget_after(self, stream: str, stamp_ns: int) -> None:
        stamps = self._stamps[stream]
        self._found_ns = -1 if self._found_ns > stamp_ns else self._found_ns
        while stamps and stamps[-1] > stamp_ns:
            del self._messages[stream, stamps.pop()]


def _nearest(stamps: Sequence[int], instant: int) -> int:
    """Return the member of a sorted sequence that is nearest to an instant; of two, the earlier."""
    place = bisect_left(stamps, instant)
    return min(stamps[max(place - 1, 0) : place + 1], key=lambda stamp: abs(stamp - instant))
