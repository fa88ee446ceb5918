"""Executors: they wait for nodes to have something to do, and do it, in one thread or in several."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

from rclpy.context import Context
from rclpy.entity import Entity
from rclpy.executor_base import Executor
from rclpy.executor_errors import (
    ConditionReachedException,
    ExternalShutdownException,
    ShutdownException,
    TimeoutException,
)
from rclpy.impl.daemon_pool import DaemonPool
from rclpy.passed_on import pass_on
from rclpy.task import Future
from rclpy.utilities import get_default_context

__all__ = [
    "ConditionReachedException",
    "Executor",
    "ExternalShutdownException",
    "MultiThreadedExecutor",
    "ShutdownException",
    "SingleThreadedExecutor",
    "TimeoutException",
    "TimeoutObject",
    "await_or_execute",
    "get_global_executor",
]


class TimeoutObject:
    """Something with a timeout, which reached it."""

    __slots__ = ("_timeout",)

    def __init__(self, timeout: float) -> None:
        """Keep the timeout in seconds."""
        self._timeout = timeout

    @property
    def timeout(self) -> float:
        """The timeout in seconds."""
        return self._timeout

    @timeout.setter
    def timeout(self, timeout: float) -> None:
        self._timeout = timeout


async def await_or_execute(callback: Callable[..., Any], *args: Any) -> Any:
    """Call a function, or await a coroutine function, and return what comes out."""
    result = callback(*args)
    return await result if inspect.iscoroutinefunction(callback) else result


def _usable_cpus() -> int:
    """The CPUs this process may use; all of them where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _never() -> bool:
    return False


class SingleThreadedExecutor(Executor):
    """Runs callbacks in the thread that spins."""

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Run one callback that is ready; its exception comes out here."""
        self._once(timeout_sec, _never)

    def spin_once_until_future_complete(self, future: Future[Any], timeout_sec: float | None = None) -> None:
        """Run or hand over one callback that is ready, unless the future is done."""
        future._add_waker(self._wake_for)
        self._once(timeout_sec, future._settled.is_set)

    def _once(self, timeout_sec: float | None, condition: Callable[[], bool]) -> None:
        try:
            work = self._next_work(timeout_sec, condition)
        except (TimeoutException, ShutdownException, ConditionReachedException):
            return
        self._do(work)
        if self._failures:
            raise self._failures.popleft()


class MultiThreadedExecutor(Executor):
    """Runs callbacks in a pool of threads."""

    def __init__(self, num_threads: int | None = None, *, context: Context | None = None) -> None:
        """Make the pool.

        Args:
            num_threads: None takes the number of CPUs this process may use, at least two; with one there is
                a warning, because `SingleThreadedExecutor` does the same with less.
            context: None takes the default one.
        """
        super().__init__(context=context)
        count = num_threads if num_threads is not None else max(_usable_cpus(), 2)
        if count == 1:
            warnings.warn("MultiThreadedExecutor with one thread: use SingleThreadedExecutor", stacklevel=2)
        self._executor = DaemonPool(count, self._fail)
        self._handed_over: set[Entity] = set()
        """Those with a callback that waits for a thread: one each, as the pool's queue has no bound."""

    def _fail(self, error: BaseException) -> None:
        """Have an exception of a callback raised where this spins."""
        self._failures.append(error)
        self.wake()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Hand one callback that is ready to a thread; its exception comes out of a later call."""
        self._once(timeout_sec, _never)

    def spin_once_until_future_complete(self, future: Future[Any], timeout_sec: float | None = None) -> None:
        """Run or hand over one callback that is ready, unless the future is done."""
        future._add_waker(self._wake_for)
        self._once(timeout_sec, future._settled.is_set)

    def _once(self, timeout_sec: float | None, condition: Callable[[], bool]) -> None:
        try:
            work = self._next_work(timeout_sec, condition)
        except (TimeoutException, ShutdownException, ConditionReachedException):
            return
        entity = self._source[0]
        if entity is not None:
            self._handed_over.add(entity)
        if not self._executor.submit(work):  # shut down meanwhile, and its callback group is taken
            self._do(work)

    def _started(self, entity: Entity) -> None:
        self._handed_over.discard(entity)
        self._look_again()

    def _begin(self, entity: Entity) -> bool:
        return not self._waits_for_thread(entity) and super()._begin(entity)

    def _can_start(self, entity: Entity) -> bool:
        return not self._waits_for_thread(entity) and super()._can_start(entity)

    def _waits_for_thread(self, entity: Entity) -> bool:
        if entity not in self._handed_over:
            return False
        self._held_back = True  # before the second look: what starts in between has not seen it
        return entity in self._handed_over

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop; waits at most `timeout_sec` [s] (None or negative: no limit) for callbacks that run.

        Returns:
            Whether all threads have ended.
        """
        super().shutdown(timeout_sec)
        return self._executor.shutdown(timeout_sec)


def get_global_executor(context: Context | None = None) -> SingleThreadedExecutor:
    """The executor behind `rclpy.spin`, one for each context."""
    key = context or get_default_context()
    executor = key._executor
    if not isinstance(executor, SingleThreadedExecutor) or executor._is_shutdown:
        executor = key._executor = SingleThreadedExecutor(context=key)
    return executor


pass_on(__name__)
