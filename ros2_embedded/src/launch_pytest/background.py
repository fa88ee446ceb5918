"""An event loop that runs in a thread of its own for a while."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any


class BackgroundLoop:
    """Runs a loop beside the thread of the tests.

    The launch goes on while functions of tests run, and the main thread stays theirs: Ctrl-C and time limits
    reach them.

    Args:
        loop: the loop; it does not run.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to run the loop."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="launch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; what is not done goes on with the next `run`."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._thread = None

    def call(self, function: Callable[[], Any]) -> None:
        """Call something soon, in the loop's thread."""
        self._loop.call_soon_threadsafe(function)

    def submit(self, awaitable: Awaitable[Any]) -> tuple[Future[Any], Callable[[], None]]:
        """Await something in the loop, with this thread's context variables.

        Returns:
            What comes of it, and a function that cancels it from any thread.
        """
        result: Future[Any] = Future()
        tasks: list[asyncio.Task[None]] = []

        async def outcome() -> None:
            try:
                result.set_result(await awaitable)
            # Whatever ends a test is raised where the test was called, and never in the loop.
            except BaseException as error:  # noqa: BLE001
                result.set_exception(error)

        self._loop.call_soon_threadsafe(
            lambda: tasks.append(self._loop.create_task(outcome())), context=contextvars.copy_context()
        )
        return result, lambda: self.call(lambda: [task.cancel() for task in tasks])

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """Await something in the loop and return or raise what comes of it."""
        if self._thread is None:
            return self._loop.run_until_complete(_awaited(awaitable))
        result, cancel = self.submit(awaitable)
        try:
            return result.result()
        finally:
            if not result.done():
                cancel()


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
