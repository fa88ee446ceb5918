"""Futures, and tasks that run functions and coroutines in an executor."""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import ref

if TYPE_CHECKING:
    from rclpy.executors import Executor

T = TypeVar("T")


class FutureState(Enum):
    """How far a future is."""

    PENDING = "PENDING"
    CANCELLED = "CANCELLED"
    FINISHED = "FINISHED"


class _Stepping(threading.local):
    """How many tasks of executors this thread is in."""

    depth = 0


_stepping = _Stepping()


def _running_loop() -> Any:
    """The loop of asyncio that runs in this thread, None without one; asyncio is not imported for it."""
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


class Future(Generic[T]):
    """A result that comes later; thread-safe, and `await`-able in callbacks.

    Done callbacks run as tasks of the executor when there is one, else at once in the thread that finished.
    """

    def __init__(self, *, executor: Executor | None = None) -> None:
        """Make a future.

        Args:
            executor: where done callbacks run.
        """
        self._lock = threading.RLock()
        self._settled = threading.Event()  # done or cancelled
        self._done = False
        self._cancelled = False
        self._result: Any = None
        self._exception: BaseException | None = None
        self._exception_fetched = False
        self._callbacks: list[Callable[[Future[T]], Any]] = []
        self._set_executor(executor)

    def _set_executor(self, executor: Executor | None) -> None:
        """Choose where done callbacks run."""
        self._executor = ref(executor) if executor is not None else lambda: None

    def __del__(self) -> None:
        """Tell of an exception that nobody looked at."""
        if self._exception is not None and not self._exception_fetched:
            warnings.warn(f"The following exception was never retrieved: {self._exception}", stacklevel=2)

    def __await__(self) -> Generator[Any, None, T | None]:
        """Suspend the coroutine until the future is done or cancelled.

        In a task of an executor, in a coroutine of asyncio, or in one that is driven by hand: the last gets
        None at each step.
        """
        while self._pending():
            if _stepping.depth:
                yield self
                continue
            loop = _running_loop()
            if loop is None:
                yield None
            else:
                yield from self._in_loop(loop).__await__()
        return self.result()

    def _in_loop(self, loop: Any) -> Any:
        """A future of an asyncio loop that is done when this is."""
        settled = loop.create_future()

        def settle() -> None:
            if not settled.done():
                settled.set_result(None)

        def wake(_: Future[T]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(settle)

        self._add_waker(wake)
        return settled

    def _pending(self) -> bool:
        """True while neither done nor cancelled."""
        return not self._settled.is_set()

    def cancel(self) -> None:
        """Cancel, unless done already; a cancelled future is not `done`, and its result is None."""
        with self._lock:
            if self._settled.is_set():
                return
            self._cancelled = True
            callbacks = self._settle()
        self._call_all(callbacks)

    def cancelled(self) -> bool:
        """True after `cancel`."""
        return self._cancelled

    def done(self) -> bool:
        """True when there is a result or an exception."""
        return self._done

    def result(self) -> T | None:
        """The result, None while not done.

        Raises:
            The exception that was set.
        """
        if self._exception is not None:
            self._exception_fetched = True
            raise self._exception
        result: T | None = self._result
        return result

    def exception(self) -> BaseException | None:
        """The exception that was set, or None."""
        self._exception_fetched = True
        return self._exception

    def set_result(self, result: T) -> None:
        """Finish with a result."""
        self._finish(result=result)

    def set_exception(self, exception: BaseException) -> None:
        """Finish with an exception."""
        self._finish(exception=exception)

    def _finish(self, *, result: Any = None, exception: BaseException | None = None) -> None:
        """Keep the outcome, then run or schedule the callbacks; a later outcome replaces it."""
        with self._lock:
            self._result, self._exception, self._done = result, exception, True
            self._exception_fetched = False
            callbacks = self._settle()
        self._call_all(callbacks)

    def _settle(self) -> list[Callable[[Future[T]], Any]]:
        """Let waiters go; returns the callbacks to run once the lock is free."""
        self._settled.set()
        callbacks, self._callbacks = self._callbacks, []
        return callbacks

    def _call_all(self, callbacks: list[Callable[[Future[T]], Any]]) -> None:
        for callback in callbacks:
            self._call(callback)

    def _call(self, callback: Callable[[Future[T]], Any]) -> None:
        executor = self._executor()
        if executor is not None and not isinstance(callback, _Waker):
            executor.create_task(callback, self)
            return
        try:
            callback(self)
        except Exception as error:  # noqa: BLE001 - must not break the one that finishes the future
            warnings.warn(f"Unhandled exception in done callback: {error}", RuntimeWarning, stacklevel=2)

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call a function with this future when it is done.

        When it is done already: soon by the executor, else at once, and an exception of the function comes
        out here.
        """
        with self._lock:
            if self._pending():
                self._callbacks.append(callback)
                return
        executor = self._executor()
        if executor is not None:
            executor.create_task(callback, self)
        else:
            callback(self)

    def remove_done_callback(self, callback: Callable[[Future[T]], Any]) -> bool:
        """Take back `add_done_callback`; returns whether it was there."""
        with self._lock:
            found = callback in self._callbacks
            self._callbacks = [known for known in self._callbacks if known != callback]
        return found

    def wait(self, timeout: float | None = None) -> bool:
        """Block until done or cancelled, while another thread spins; returns whether it is."""
        return self._settled.wait(timeout)

    def _add_waker(self, waker: Callable[[Future[T]], Any]) -> None:
        """Call a cheap internal function at once when done, without a task of its own; each function once."""
        with self._lock:
            if self._pending():
                if _Waker(waker) not in self._callbacks:
                    self._callbacks.append(_Waker(waker))
                return
        waker(self)


@dataclass(frozen=True)
class _Waker:
    """Marks callbacks that run in the finishing thread."""

    function: Callable[[Any], Any]

    def __call__(self, future: Any) -> Any:
        return self.function(future)


class Task(Future[T]):
    """Runs a function or a coroutine; calling it does one step and returns at the first unfinished await."""

    def __init__(
        self,
        handler: Callable[..., Any] | Coroutine[Any, Any, T],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Make a task; it does nothing until it is called, which the executor does."""
        super().__init__(executor=executor)
        self._args, self._kwargs = args or (), kwargs or {}
        self._handler: Any = handler
        if inspect.iscoroutinefunction(handler):
            self._handler = handler(*self._args, **self._kwargs)
        self._step_lock = threading.Lock()
        self._executing = False

    def __call__(self) -> None:
        """Run up to the next unfinished await; does nothing when done."""
        with self._step_lock:  # a step that another thread is just leaving must end first
            if not self._pending():
                return
            self._executing = True
            try:
                self._step()
            except BaseException as error:  # the executor raises it again where it spins
                self.set_exception(error)
                if not isinstance(error, Exception):
                    raise
            finally:
                self._executing = False

    def _step(self) -> None:
        if not inspect.iscoroutine(self._handler):
            result = self._handler(*self._args, **self._kwargs)
            if not inspect.iscoroutine(result):
                self.set_result(result)
                return
            self._handler = result
        _stepping.depth += 1
        try:
            awaited = self._handler.send(None)
        except StopIteration as stop:
            self.set_result(stop.value)
            return
        finally:
            _stepping.depth -= 1
        executor = self._executor()
        if executor is None:
            return
        if isinstance(awaited, Future):
            awaited._add_waker(lambda _: executor._schedule(self))
        else:
            executor._schedule(self)

    def executing(self) -> bool:
        """True while a step runs."""
        return self._executing

    def cancel(self) -> None:
        """Cancel; a coroutine that is waiting gets an `asyncio.CancelledError`."""
        if self._pending() and self._step_lock.acquire(blocking=False):
            try:
                if inspect.iscoroutine(self._handler):
                    _interrupt(self._handler)
            finally:
                self._step_lock.release()
        super().cancel()


def _interrupt(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Raise in a coroutine that waits, so that it can clean up, and close it."""
    import asyncio  # here, as it would double the time of `import rclpy`

    if inspect.getcoroutinestate(coroutine) == inspect.CORO_SUSPENDED:
        try:
            coroutine.throw(asyncio.CancelledError())
        except (asyncio.CancelledError, StopIteration):
            return
    coroutine.close()
