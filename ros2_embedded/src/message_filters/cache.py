"""A history of messages that can be searched by time."""

from __future__ import annotations

from typing import Any

from message_filters.simple_filter import SimpleFilter
from message_filters.stamps import as_time, time_of
from rclpy.time import Time


class Cache(SimpleFilter):
    """Keeps the newest messages and passes each of them on.

    Attributes:
        cache_msgs: the messages, in the order in which they came.
        cache_times: their times, in the same order.
        cache_size: how many messages are kept.
        allow_headerless: whether a message without `header.stamp` is kept, with the time of its arrival.
    """

    def __init__(self, f: SimpleFilter | None, cache_size: int = 1, allow_headerless: bool = False) -> None:
        """Make a cache.

        Args:
            f: the filter whose messages are kept, or None where `add` or `connectInput` is called later.
            cache_size: how many messages are kept.
            allow_headerless: keep messages without `header.stamp`, with the time of their arrival.
        """
        super().__init__()
        self.cache_msgs: list[Any] = []
        self.cache_times: list[Time] = []
        self.cache_size = cache_size
        self.allow_headerless = allow_headerless
        if f is not None:
            self.connectInput(f)

    def connectInput(self, f: SimpleFilter) -> None:
        """Keep the messages of a filter."""
        self.incoming_connection = f.registerCallback(self.add)

    def add(self, msg: Any) -> None:
        """Keep a message and pass it on."""
        stamp = time_of(msg, self.allow_headerless, "Cache")
        if stamp is None:
            return
        self.cache_msgs.append(msg)
        self.cache_times.append(stamp)
        if len(self.cache_msgs) > self.cache_size:
            self.cache_msgs.pop(0)
            self.cache_times.pop(0)
        self.signalMessage(msg)

    def getInterval(self, from_stamp: Any, to_stamp: Any) -> list[Any]:
        """The messages between two times, both included, in the order in which they came."""
        first, last = as_time(from_stamp).nanoseconds, as_time(to_stamp).nanoseconds
        if first > last:
            raise ValueError("the interval ends before it begins")
        return [msg for msg, time in self._stored() if first <= time <= last]

    def getElemAfterTime(self, stamp: Any) -> Any:
        """The oldest message at this time or after it, or None."""
        wanted = as_time(stamp).nanoseconds
        after = [(time, msg) for msg, time in self._stored() if time >= wanted]
        return min(after, key=lambda one: one[0])[1] if after else None

    def getElemBeforeTime(self, stamp: Any) -> Any:
        """The newest message at this time or before it, or None."""
        wanted = as_time(stamp).nanoseconds
        before = [(time, msg) for msg, time in self._stored() if time <= wanted]
        return max(before, key=lambda one: one[0])[1] if before else None

    def getLatestTime(self) -> Time | None:
        """The time of the newest message, or None while the cache is empty."""
        return max(self.cache_times, key=lambda time: time.nanoseconds, default=None)

    getLastestTime = getLatestTime  # The name in Jazzy.

    def getOldestTime(self) -> Time | None:
        """The time of the oldest message, or None while the cache is empty."""
        return min(self.cache_times, key=lambda time: time.nanoseconds, default=None)

    def getLast(self) -> Any:
        """The newest message, or None while the cache is empty."""
        latest = self.getLatestTime()
        return None if latest is None else self.getElemAfterTime(latest)

    def _stored(self) -> list[tuple[Any, int]]:
        """The messages and their times [ns]."""
        return [(msg, time.nanoseconds) for msg, time in zip(self.cache_msgs, self.cache_times, strict=False)]
