"""Puts the messages of several filters into the order of their times."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from message_filters.simple_filter import SimpleFilter
from message_filters.stamps import as_time
from rclpy.duration import Duration

if TYPE_CHECKING:
    from rclpy.node import Node


@dataclass
class QueueStatus:
    """How an input of an aligner stands.

    Attributes:
        active: whether it is waited for while it is empty.
        queue_size: how many messages wait.
        msgs_processed: how many were passed on.
        msgs_dropped: how many came after a later message had been passed on.
    """

    active: bool
    queue_size: int
    msgs_processed: int
    msgs_dropped: int


class _EventQueue:
    """The messages of one input that wait, the earliest first, those of one time in the order they came.

    Attributes:
        events: a heap of times [ns], numbers and messages.
        period: how far the times of two messages lie apart [ns]; 0 where that is not known.
        expected: the time [ns] of the message that is waited for while there is none.
        active: whether it is waited for.
        processed: how many messages were passed on.
        dropped: how many came too late.
        output: its callbacks.
    """

    def __init__(self) -> None:
        self.events: list[tuple[int, int, Any]] = []
        self.period = 0
        self.expected = 0
        self.active = False
        self.processed = 0
        self.dropped = 0
        self.output = SimpleFilter()

    def next_time(self) -> int | None:
        """The time [ns] of the first message, or of the one that is waited for; None where neither is."""
        if self.events:
            first = self.events[0][0]
            self.active, self.expected = True, first + self.period
            return first
        return self.expected if self.active else None


class InputAligner(SimpleFilter):
    """Takes messages of several filters as they come, and passes them on in the order of their times.

    Each input has callbacks of its own. An input that has sent and is empty is waited for: the others stay
    until its next message comes, or until the newest message of all is `timeout` later than that one was to
    be. A message that is older than one that was passed on is dropped. Nothing is passed on but by
    `dispatchMessages`, which a timer can call.

    Attributes:
        timeout: how long an empty input is waited for, in the time of the messages.
        event_queues: one for each input.
        name: a name for programs to use.
        dispatch_timer: the timer that calls `dispatchMessages`, or None.
    """

    def __init__(
        self, timeout: Duration, *inputs: SimpleFilter, filters: Sequence[SimpleFilter] | None = None
    ) -> None:
        """Make an aligner.

        Args:
            timeout: how long an empty input is waited for, in the time of the messages.
            inputs: the filters whose messages are taken; `connectInput` can be called later.
            filters: the same, as a list.
        """
        super().__init__()
        self.timeout = timeout
        self.event_queues: list[_EventQueue] = []
        self.input_connections: list[tuple[SimpleFilter, int]] = []
        self.name = ""
        self.dispatch_timer: Any = None
        self.lock = threading.RLock()
        self._numbers = itertools.count()
        self._newest = 0  # time [ns] of the newest message that came
        self._last_out = 0  # time [ns] of the last message that was passed on
        self._dispatching = False
        if inputs or filters:
            self.connectInput(*inputs, filters=filters)

    def connectInput(self, *inputs: SimpleFilter, filters: Sequence[SimpleFilter] | None = None) -> None:
        """Take the messages of these filters from now on; those that wait and all callbacks are forgotten."""
        sources = [*inputs, *(filters or ())]
        with self.lock:
            self.disconnectAll()
            self.event_queues = [_EventQueue() for _ in sources]
            self.input_connections = [
                (source, source.registerCallback(self.add, index)) for index, source in enumerate(sources)
            ]

    def disconnectAll(self) -> None:
        """Take no more messages of the filters."""
        for source, connection in self.input_connections:
            source.unregisterCallback(connection)
        self.input_connections = []

    def registerCallback(self, index: int, callback: Callable[..., Any], *args: Any) -> int:  # type: ignore[override]
        """Have a function called with each message of an input.

        Args:
            index: the place of the input.
            callback: called with the message, and then with `args`.
            args: what is passed on to the function.
        """
        return self.event_queues[index].output.registerCallback(callback, *args)

    def setName(self, name: str) -> None:
        """Give the aligner a name."""
        self.name = name

    def getName(self) -> str:
        """The name of the aligner, empty at first."""
        return self.name

    def setInputPeriod(self, index: int, period: Duration) -> None:
        """Tell how far the times of the messages of an input lie apart."""
        self.event_queues[index].period = period.nanoseconds

    def getQueueStatus(self, index: int) -> QueueStatus:
        """How an input stands."""
        queue = self.event_queues[index]
        return QueueStatus(queue.active, len(queue.events), queue.processed, queue.dropped)

    def setupDispatchTimer(self, node: Node, update_rate: Duration) -> None:
        """Have `dispatchMessages` called by a timer of a node.

        Args:
            node: the node.
            update_rate: the time between two calls.
        """
        self.dispatch_timer = node.create_timer(update_rate.nanoseconds / 1e9, self.dispatchMessages)

    def add(self, msg: Any, queue_index: int) -> None:
        """Take a message with `header.stamp` of an input."""
        time = as_time(msg.header.stamp).nanoseconds
        with self.lock:
            queue = self.event_queues[queue_index]
            if time < self._last_out:
                queue.dropped += 1
                return
            self._newest = max(self._newest, time)
            heapq.heappush(queue.events, (time, next(self._numbers), msg))

    def dispatchMessages(self) -> None:
        """Pass on each message before which none is to come."""
        with self.lock:
            if self._dispatching:  # called by a callback: what it added comes in the loop below
                return
            self._dispatching = True
            try:
                while any(queue.events for queue in self.event_queues) and self._step():
                    pass
            finally:
                self._dispatching = False

    def _step(self) -> bool:
        """Pass on the first message, or give up an input that is too late; False when one is waited for."""
        times = [(time, queue) for queue in self.event_queues if (time := queue.next_time()) is not None]
        time, queue = min(times, key=lambda one: one[0])
        if queue.events:
            _, _, message = heapq.heappop(queue.events)
            queue.processed += 1
            self._last_out = time
            queue.output.signalMessage(message)
            return True
        if self._newest - time >= self.timeout.nanoseconds:
            queue.active = False
            return True
        return False
