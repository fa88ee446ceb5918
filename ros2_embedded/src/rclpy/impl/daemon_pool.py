"""A pool of threads that do not hold up the end of a program."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

Function = Callable[[], None]


class _Balance:
    """How many threads wait for a function, and how many functions for a thread; never both."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal may interrupt who holds it
        self.threads = self.functions = 0

    def thread_is_through(self) -> None:
        """A thread takes the next function that comes, or one that waits already."""
        with self.lock:
            if self.functions:
                self.functions -= 1
            else:
                self.threads += 1


class DaemonPool:
    """Runs functions in threads, which start when they are needed and end with the pool.

    `concurrent.futures.ThreadPoolExecutor` waits for its threads when the interpreter ends. These are
    daemons, as an interrupted program must be able to end while a callback still runs.
    """

    def __init__(self, max_workers: int, on_error: Callable[[BaseException], None]) -> None:
        """Make the pool; the method `on_error`, whose object may go, gets what a function raises."""
        self._max_workers, self._on_error = max_workers, weakref.WeakMethod(on_error)
        self._submitted: queue.SimpleQueue[Function | None] = queue.SimpleQueue()
        self._balance = _Balance()
        self._threads: list[threading.Thread] = []
        self._is_over = False
        weakref.finalize(self, _end, self._submitted, self._threads).atexit = False

    def submit(self, function: Function) -> bool:
        """Run a function in the next thread that is free; returns False after `shutdown`, and does not."""
        with self._balance.lock:
            if self._is_over:
                return False
            self._submitted.put(function)
            if self._balance.threads:
                self._balance.threads -= 1
                return True
            if len(self._threads) >= self._max_workers:
                self._balance.functions += 1
                return True
            thread = threading.Thread(
                target=_run,
                args=(self._submitted, self._balance, self._on_error),
                name=f"executor-{len(self._threads)}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()
        return True

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """End the threads once they are through.

        Args:
            timeout_sec: how long to wait for that [s], for all together; None or negative: no limit.

        Returns:
            Whether all threads have ended, but for one that calls this.
        """
        with self._balance.lock:
            self._is_over = True
            _end(self._submitted, self._threads)
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        end = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        for thread in others:
            thread.join(None if end is None else max(end - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in others)


def _end(submitted: queue.SimpleQueue[Any], threads: list[threading.Thread]) -> None:
    """Have each thread end after what was submitted before."""
    for _ in threads:
        submitted.put(None)


def _run(
    submitted: queue.SimpleQueue[Function | None],
    balance: _Balance,
    on_error: weakref.WeakMethod[Callable[[BaseException], None]],
) -> None:
    """What each thread does: work until there is None. It holds nothing between two functions."""
    while True:
        function = submitted.get()
        if function is None:
            return
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - raised again where the executor spins
            tell = on_error()
            if tell is not None:
                tell(error)
            del tell
        del function
        balance.thread_is_through()
