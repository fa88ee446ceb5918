"""A request to end a server, which a signal can make, and which no wait can miss.

Python runs a signal's handler between two instructions of the main thread. If a signal comes just before the main
thread blocks in a system call, or is delivered to another thread, the handler waits as long as the call blocks; and an
exception from a handler may be lost in a destructor. So nothing is raised here: each signal writes to a pipe, every
wait also polls the pipe, and the handler sets a flag.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Iterator

import zmq

SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""The signals that end a server."""


class StopRequest:
    """A flag and a pipe; `ask` may be called by any thread and by signal handlers.

    It takes no lock, because a handler may interrupt the thread that holds one.
    """

    def __init__(self) -> None:
        self.asked = False
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._waker, False)  # required by signal.set_wakeup_fd

    def ask(self) -> None:
        """Ask the server to end."""
        self.asked = True
        self.wake()

    def wake(self) -> None:
        """End the present wait, or the next one."""
        with contextlib.suppress(BlockingIOError):  # a full pipe wakes as well as one more byte
            os.write(self._waker, b"\0")

    def fileno(self) -> int:
        """Return the descriptor that can be read once `wake` was called or a signal came."""
        return self._wake

    def drain(self) -> None:
        """Empty the pipe of the bytes of `wake` and of signals, whose handlers run before the next wait."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)

    def wait(self) -> None:
        """Wait until the server is asked to end."""
        while not self.asked:
            select.select([self._wake], [], [])
            self.drain()

    def wait_for(self, socket: zmq.Socket[bytes]) -> bool:
        """Wait until `socket` has a message, and return True; False: the server is asked to end."""
        poller = zmq.Poller()
        poller.register(socket, zmq.POLLIN)
        poller.register(self._wake, zmq.POLLIN)
        while not self.asked:
            ready = dict(poller.poll())
            if self._wake in ready:
                self.drain()
            elif socket in ready:
                return True
        return False

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Call `ask` on SIGTERM and SIGINT while the block runs; outside of the main thread, do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        woken = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        before = [signal.signal(name, lambda *_: self.ask()) for name in SIGNALS]
        try:
            yield
        finally:
            for name, handler in zip(SIGNALS, before, strict=True):
                signal.signal(name, signal.SIG_DFL if handler is None else handler)  # None: not set by Python
            signal.set_wakeup_fd(woken)

    def close(self) -> None:
        """Close the pipe."""
        os.close(self._wake)
        os.close(self._waker)
