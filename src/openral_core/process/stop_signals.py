"""Orderly end of a node's process at SIGINT and SIGTERM: the executor stops, while the context stays valid.

The handlers of rclpy shut the context down at once, in a separate thread, so that a node's last messages are lost and
`rclpy.shutdown` may fail because it was called already. A node's process therefore does not install them:

    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    with StopSignals() as signals:
        executor.add_node(node)
        signals.spin(executor, Future())
    node.close()

This module does not import ROS.
"""

from __future__ import annotations

import signal
import socket
import threading
from types import FrameType, TracebackType
from typing import Any, Protocol

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Completable(Protocol):
    """The used methods of `rclpy.task.Future`."""

    def done(self) -> bool:
        """Whether it has a result."""

    def set_result(self, result: Any) -> None:
        """Set the result, and wake those that wait for it."""


class Executor(Protocol):
    """The used methods of `rclpy.executors.Executor`."""

    def spin_until_future_complete(self, future: Any, timeout_sec: float | None = None) -> None:
        """Call callbacks until the future is done."""


class StopSignals:
    """Context manager of the main thread: the first signal ends `spin`, or else what stands in the `with` block.

    That is done by a KeyboardInterrupt. It does not leave the block, nor does an exception that a library makes of it,
    such as pydantic while it builds a validator. A second signal of a kind does what it did before, which for most
    processes is to end at once.

    Attributes:
        received: whether a signal came; what failed to load then was interrupted.
    """

    def __init__(self) -> None:
        """Create it without handlers."""
        self.received = False
        self._interrupted = False
        self._spinning: Completable | None = None
        self._former: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        """Install the handlers."""
        # Python calls its handlers between two instructions of the main thread, which may be blocked in a wait of
        # the C library; a byte at the wake-up descriptor comes at once, to a thread that ends that wait.
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        self._former_wakeup = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._run, name="signals", daemon=True)
        self._thread.start()
        for number in SIGNALS:
            self._former[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Put back what handled the signals before; what interrupted the block ends here."""
        for number, former in self._former.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, former)
        signal.set_wakeup_fd(self._former_wakeup)
        self._sender.close()
        self._thread.join()
        self._receiver.close()
        return self._interrupted and kind is not None and issubclass(kind, (KeyboardInterrupt, Exception))

    def spin(self, executor: Executor, finished: Completable) -> None:
        """Serve callbacks until a future is done or a signal comes; the context is valid in both cases.

        Args:
            executor: has its nodes.
            finished: an `rclpy.task.Future` that ends the process by being done; it is given a result at a signal.
        """
        self._spinning = finished
        try:
            if not self.received:
                executor.spin_until_future_complete(finished)
        finally:
            self._spinning = None

    def _run(self) -> None:
        while numbers := self._receiver.recv(64):
            future = self._spinning
            if future is not None and any(number in SIGNALS for number in numbers):
                self.received = True
                if not future.done():
                    future.set_result(None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        signal.signal(number, self._former[signal.Signals(number)])
        if self._spinning is not None:
            # The thread may have read its byte just before the spinning began; it must not be done here, because
            # the main thread may hold the future's lock.
            self._sender.send(bytes([number]))
        elif not self.received:
            self.received = self._interrupted = True
            raise KeyboardInterrupt
