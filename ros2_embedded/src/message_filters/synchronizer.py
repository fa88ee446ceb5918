"""Puts together messages of several filters that have the same time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import reduce
from typing import Any

from message_filters.simple_filter import SimpleFilter
from message_filters.stamps import time_of


class TimeSynchronizer(SimpleFilter):
    """Calls its callbacks with one message of each filter once all with the same time have come.

    Attributes:
        queues: for each filter the messages that wait, by their time [ns].
        queue_size: how many messages of a filter wait; the oldest goes first.
    """

    def __init__(self, fs: Sequence[SimpleFilter], queue_size: int) -> None:
        """Make a synchronizer.

        Args:
            fs: the filters; callbacks get their messages in this order.
            queue_size: how many messages of each filter wait for the others.
        """
        super().__init__()
        self.lock = threading.RLock()
        self.queue_size = queue_size
        self.connectInput(fs)

    def connectInput(self, fs: Sequence[SimpleFilter]) -> None:
        """Take the messages of these filters from now on, with empty queues."""
        self.queues: list[dict[int, Any]] = [{} for _ in fs]
        self.input_connections = [
            f.registerCallback(self.add, queue, index)
            for index, (f, queue) in enumerate(zip(fs, self.queues, strict=True))
        ]

    def add(self, msg: Any, my_queue: dict[int, Any], my_queue_index: int | None = None) -> None:
        """Take a message of a filter and pass on each set that it completes.

        Args:
            msg: a message with `header.stamp`.
            my_queue: the queue of its filter, one of `queues`.
            my_queue_index: the place of that queue.
        """
        stamp = time_of(msg, False, type(self).__name__)
        if stamp is None:
            return
        with self.lock:
            self._store(msg, stamp.nanoseconds, my_queue)
            common = reduce(lambda times, queue: times & queue.keys(), self.queues, set(my_queue))
            for time in sorted(common):
                self.signalMessage(*[queue.pop(time) for queue in self.queues])

    def _store(self, msg: Any, time: int, queue: dict[int, Any]) -> None:
        """Put a message of a time [ns] into its queue, which then holds `queue_size` at most."""
        queue[time] = msg
        while len(queue) > self.queue_size:
            del queue[min(queue)]
