"""Puts together messages of several filters whose times are close to each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from message_filters.simple_filter import SimpleFilter
from message_filters.stamps import time_of
from message_filters.synchronizer import TimeSynchronizer
from rclpy.duration import Duration


class ApproximateTimeSynchronizer(TimeSynchronizer):
    """Calls its callbacks with one message of each filter when their times differ by less than `slop`.

    Attributes:
        slop: the times of the messages of a set differ by less than this.
        allow_headerless: whether messages without `header.stamp` are taken, with the time of their arrival.
    """

    def __init__(
        self, fs: Sequence[SimpleFilter], queue_size: int, slop: float, allow_headerless: bool = False
    ) -> None:
        """Make a synchronizer.

        Args:
            fs: the filters; callbacks get their messages in this order.
            queue_size: how many messages of each filter wait for the others.
            slop: the times of the messages of a set differ by less than this [s].
            allow_headerless: take messages without `header.stamp`, with the time of their arrival.
        """
        super().__init__(fs, queue_size)
        self.slop = Duration(seconds=slop)
        self.allow_headerless = allow_headerless

    def add(self, msg: Any, my_queue: dict[int, Any], my_queue_index: int | None = None) -> None:
        """Take a message of a filter and pass on the set that it completes, if there is one.

        Args:
            msg: a message.
            my_queue: the queue of its filter, one of `queues`.
            my_queue_index: the place of that queue; found by identity where it is None.
        """
        stamp = time_of(msg, self.allow_headerless, type(self).__name__)
        if stamp is None:
            return
        with self.lock:
            self._store(msg, stamp.nanoseconds, my_queue)
            if my_queue_index is None:
                my_queue_index = next(i for i, queue in enumerate(self.queues) if queue is my_queue)
            chosen = self._closest(stamp.nanoseconds, my_queue_index)
            if chosen is not None:
                self.signalMessage(
                    *[queue.pop(time) for queue, time in zip(self.queues, chosen, strict=True)]
                )

    def _closest(self, time: int, index: int) -> tuple[int, ...] | None:
        """The times of a set around a time [ns] of the queue with this index, or None.

        The times of each queue are tried from the closest to the farthest one.
        """
        slop = self.slop.nanoseconds
        candidates = [
            sorted((t for t in queue if abs(t - time) <= slop), key=lambda t: abs(t - time))
            for queue in self.queues
        ]
        candidates[index] = [time] if time in self.queues[index] else []
        for chosen in itertools.product(*candidates):
            if max(chosen) - min(chosen) < slop:
                return chosen
        return None
