"""Finds the newest instant for which every stream has a message: exact equality of stamps, nothing approximate."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


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
