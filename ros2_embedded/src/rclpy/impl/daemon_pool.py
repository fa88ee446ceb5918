"""A pool of threads that do not hold up the end of a program."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable


class DaemonPool:
    """Runs functions in threads.

    `concurrent.futures.ThreadPoolExecutor` waits for its threads when the interpreter ends. These are
    daemons, as an interrupted program must be able to end while a callback still runs.
    """

    def __init__(self, max_workers: int, on_error: Callable[[BaseException], None]) -> None:
        """Start the threads; `on_error` gets what a function raises."""
        self._max_workers, self._on_error = max_workers, on_error
        self._submitted: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, name=f"executor-{index}", daemon=True)
            for index in range(max_workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[[], None]) -> None:
        """Run a function in the next thread that is free."""
        self._submitted.put(function)

    def _run(self) -> None:
        """What each thread does: work until there is None."""
        while True:
            function = self._submitted.get()
            if function is None:
                return
            try:
                function()
            except BaseException as error:  # noqa: BLE001 - raised again where the executor spins
                self._on_error(error)

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """End the threads once they are through; wait at most `timeout_sec` [s] (None: no limit) for each.

        Returns:
            Whether all threads have ended.
        """
        for _ in self._threads:
            self._submitted.put(None)
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        for thread in others:
            thread.join(timeout_sec)
        return not any(thread.is_alive() for thread in others)
