"""The base of the executors: it waits for nodes to have something to do, and finds it.

An executor sleeps until it is woken: by a message, a request, an answer, a guard condition, a task, a
change of simulated time, the next timer, or shutdown. Nothing polls.
"""

from __future__ import annotations

import inspect
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any

from rclpy.context import Context
from rclpy.entity import Entity
from rclpy.executor_errors import (
    ConditionReachedException,
    ExternalShutdownException,
    ShutdownException,
    TimeoutException,
)
from rclpy.task import Future, Task
from rclpy.utilities import get_default_context
from ros2_embedded.timeouts import finite

if TYPE_CHECKING:
    from rclpy.node import Node

Work = Callable[[], None]

# Where messages come faster than the executor falls asleep, each one would wake it anew, and the thread that
# receives and the one that spins would pass the interpreter to each other for each message. After so many
# waits in a row that ended sooner than SHORT_WAIT_S, the executor lets messages gather for GATHER_S, as
# network cards do with interrupts.
SHORT_WAIT_S = 100e-6
SHORT_WAITS = 4
GATHER_S = 200e-6


class Executor:
    """Base of the executors: collects work and keeps the rules of the callback groups."""

    def __init__(self, *, context: Context | None = None) -> None:
        """Make an executor for a context (None: the default one)."""
        self._context = context or get_default_context()
        self._nodes: tuple[Node, ...] = ()
        self._nodes_lock = threading.RLock()
        self._tasks: deque[Task[Any]] = deque()
        self._wake_queue: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._woken = False
        self._heard = False  # woken since the round of `_work` began
        self._looked_into: list[Entity] = []  # in this round: what may be pending still or again
        self._short_waits = 0  # in a row
        self._is_shutdown = False
        self._held_back = False  # something waits for a callback group or a thread
        self._work: Generator[Work, None, None] | None = None
        self._source: tuple[Entity | None, Node | None] = (None, None)  # of the work found last
        self._failures: deque[BaseException] = deque()
        self._at_work: list[int] = []  # the thread of each callback that runs where this spins
        self._work_ended = threading.Condition()
        self._context.on_shutdown(self.wake)

    @property
    def context(self) -> Context:
        """The context."""
        return self._context

    def wake(self) -> None:
        """End the present wait; any thread and any signal handler may call this."""
        self._heard = True
        if not self._woken:
            self._woken = True
            self._wake_queue.put(None)

    def _wake_for(self, future: Future[Any]) -> None:
        """As `wake`, for a future that is done; one bound method, so that a future holds it once."""
        self.wake()

    def create_task(
        self, callback: Callable[..., Any] | Coroutine[Any, Any, Any], *args: Any, **kwargs: Any
    ) -> Task[Any]:
        """Run a function or a coroutine in this executor; returns its future."""
        task: Task[Any] = Task(callback, args, kwargs, executor=self)
        task._add_waker(self._note_failure)
        self._schedule(task)
        return task

    def create_future(self) -> Future[Any]:
        """A future whose done callbacks run in this executor."""
        return Future(executor=self)

    def _schedule(self, task: Task[Any]) -> None:
        """Have a task do its next step."""
        self._tasks.append(task)
        self.wake()

    def _note_failure(self, future: Future[Any]) -> None:
        """Have an exception raised where the executor spins."""
        error = future.exception()
        if error is not None:
            self._failures.append(error)
            self.wake()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop spinning, let the nodes go, and wait for callbacks that run in other threads.

        Args:
            timeout_sec: how long to wait [s]; None or negative: no limit.

        Returns:
            Whether they have ended.
        """
        with self._nodes_lock:
            self._is_shutdown = True
            nodes, self._nodes = self._nodes, ()
        for node in nodes:
            node._rclpy_set_executor(None)
        self.wake()
        own = threading.get_ident()
        limit = None if timeout_sec is not None and timeout_sec < 0 else finite(timeout_sec)
        with self._work_ended:
            return self._work_ended.wait_for(lambda: all(one == own for one in self._at_work), limit)

    def _do(self, work: Work) -> None:
        """Do a piece of work in the thread that spins; `shutdown` waits for it."""
        own = threading.get_ident()
        try:
            self._at_work.append(own)
            work()
        finally:  # also after a KeyboardInterrupt that came between the two
            self._at_work.remove(own)
            if self._is_shutdown:
                with self._work_ended:
                    self._work_ended.notify_all()

    def add_node(self, node: Node) -> bool:
        """Spin a node too; a node belongs to one executor. Returns whether it was new here."""
        with self._nodes_lock:
            if node in self._nodes:
                return False
            self._nodes = (*self._nodes, node)
        node.executor = self
        self.wake()
        return True

    def remove_node(self, node: Node) -> None:
        """Do not spin a node any more."""
        self._drop_node(node)

    def _drop_node(self, node: Node) -> None:
        with self._nodes_lock:
            if node not in self._nodes:
                return
            self._nodes = tuple(known for known in self._nodes if known is not node)
        node._rclpy_set_executor(None)
        self.wake()

    def get_nodes(self) -> list[Node]:
        """The nodes spun."""
        return list(self._nodes)

    def spin(self) -> None:
        """Work until shutdown.

        Raises:
            ExternalShutdownException: the context was shut down while waiting.
        """
        while self._context.ok() and not self._is_shutdown:
            self.spin_once()

    def spin_until_future_complete(self, future: Future[Any], timeout_sec: float | None = None) -> None:
        """Work until a future is done, for at most `timeout_sec` [s] (None or negative: no limit)."""
        future._add_waker(self._wake_for)
        end = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        left = None if end is None else timeout_sec
        while self._context.ok() and future._pending() and not self._is_shutdown:
            self.spin_once_until_future_complete(future, left)
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for one piece of work, for at most `timeout_sec` [s], and do it."""
        raise NotImplementedError

    def spin_once_until_future_complete(self, future: Future[Any], timeout_sec: float | None = None) -> None:
        """As `spin_once`, but a finished future ends the wait too."""
        raise NotImplementedError

    def wait_for_ready_callbacks(
        self, timeout_sec: float | None = None, condition: Callable[[], bool] = lambda: False
    ) -> tuple[Task[Any], Entity | None, Node | None]:
        """Wait for one piece of work, for executors of your own; call the task to do it.

        Args:
            timeout_sec: [s]; None or negative: no limit.
            condition: ends the wait when it holds.

        Returns:
            The work, which keeps an exception of the callback as a future does, and the entity and the node
            it belongs to (None for a task of `create_task`).

        Raises:
            TimeoutException, ShutdownException, ExternalShutdownException, ConditionReachedException: see
            there.
        """
        work = self._next_work(timeout_sec, condition)
        return Task(work, executor=self), *self._source

    def _wait_for_ready_callbacks(
        self, timeout_sec: float | None = None, condition: Callable[[], bool] = lambda: False
    ) -> Generator[tuple[Task[Any], Entity | None, Node | None], None, None]:
        """As `wait_for_ready_callbacks`, again and again; executors of programs iterate over this one."""
        while True:
            yield self.wait_for_ready_callbacks(timeout_sec, condition)

    def _next_work(self, timeout_sec: float | None, condition: Callable[[], bool]) -> Work:
        """Wait for a piece of work; its callback group is taken already.

        Raises:
            TimeoutException, ShutdownException, ExternalShutdownException, ConditionReachedException: see
            there.
        """
        end = None if timeout_sec is None or timeout_sec < 0 else time.monotonic() + timeout_sec
        while True:
            is_new = self._work is None
            if is_new:
                self._forget_wakes()
            self._woken = False  # before looking, so that what comes while looking wakes again
            if self._failures:
                raise self._failures.popleft()
            if self._is_shutdown:
                raise ShutdownException()
            if not self._context.ok():
                raise ExternalShutdownException()
            if condition():
                raise ConditionReachedException()
            if self._work is None:
                self._heard = False
                self._work = self._ready_work()
            work = next(self._work, None)
            if work is not None:
                return work
            self._work = None
            if is_new or not self._may_be_more(end):
                self._wait(end)

    def _forget_wakes(self) -> None:
        """Before a round: it looks at all that woke until now."""
        while not self._wake_queue.empty():
            try:
                self._wake_queue.get_nowait()
            except queue.Empty:
                return

    def _may_be_more(self, end: float | None) -> bool:
        """Whether a round that found work has passed something that became ready only behind it.

        Timers end the wait by themselves, so they are asked only where there is no time to wait.
        """
        if self._heard or any(
            not entity._is_always_heard or entity.is_pending() for entity in self._looked_into
        ):
            return True
        if end is None or time.monotonic() < end:
            return False
        timer = self._seconds_to_timer()
        return timer is not None and timer <= 0

    def _wait(self, end: float | None) -> None:
        """Sleep until woken, the next timer or the end.

        Raises:
            TimeoutException: the end is reached.
        """
        now = time.monotonic()
        if end is not None and now >= end:
            raise TimeoutException()
        timer = self._seconds_to_timer()
        timeout = None if end is None else end - now
        if timer is not None:
            timeout = timer if timeout is None else min(timer, timeout)
        timeout = finite(timeout)
        try:
            self._wake_queue.get(timeout=None if timeout is None else max(timeout, 0.0))
        except queue.Empty:
            self._short_waits = 0
            return
        self._gather(time.monotonic() - now)

    def _gather(self, waited_s: float) -> None:
        """Let messages come together in a flood; whatever else is ready is done at once."""
        self._short_waits = self._short_waits + 1 if waited_s < SHORT_WAIT_S else 0
        if self._short_waits < SHORT_WAITS or self._tasks or self._failures:
            return
        pending = [entity for node in self._nodes for entity in node._rclpy_pollable() if entity.is_pending()]
        if pending and all(entity.can_gather() for entity in pending):
            time.sleep(GATHER_S)

    def _seconds_to_timer(self) -> float | None:
        """Time to the next timer that a wall clock drives; None without one."""
        shortest: int | None = None
        for node in self._nodes:
            for timer in node._rclpy_wall_timers():
                if timer.clock.follows_wall and self._can_start(timer):
                    left = timer.nanoseconds_left()
                    if left is not None and (shortest is None or left < shortest):
                        shortest = left
        return None if shortest is None else shortest / 1e9

    def _ready_work(self) -> Generator[Work, None, None]:
        """One round: one callback of each ready entity, and before each a step of each ready task.

        So what a callback left to tasks is done before the callbacks of others that wait for it.
        """
        self._looked_into.clear()
        yield from self._ready_tasks()
        for node in self._nodes:
            for entity in node._rclpy_pollable():
                if entity._is_always_heard and not entity.is_pending():
                    continue  # most of them, so this comes first
                if node._rclpy_executor() is not self:  # removed while the callback before ran
                    break
                self._looked_into.append(entity)
                if entity.is_pending() and not entity._destroyed and self._begin(entity):
                    try:
                        call = entity.take()
                    except BaseException:
                        self._end(entity)
                        raise
                    if call is None:  # what was taken was no use; look at what waits behind it
                        self._end(entity)
                        self.wake()
                    else:
                        self._source = (entity, node)
                        yield self._make_work(entity, call)
                        if self._tasks:
                            yield from self._ready_tasks()

    def _ready_tasks(self) -> Generator[Work, None, None]:
        for _ in range(len(self._tasks)):
            try:
                task = self._tasks.popleft()
            except IndexError:
                return
            self._source = (None, None)
            yield task

    def _make_work(self, entity: Entity, call: Callable[[], Any]) -> Work:
        """The callback of an entity; a coroutine keeps the callback group until it ends."""

        def run() -> None:
            self._started(entity)
            if entity._destroyed:  # while this waited for a thread
                self._end(entity)
                return
            try:
                result = call()
            except BaseException:
                self._end(entity)
                raise
            if inspect.iscoroutine(result):
                task: Task[Any] = Task(result, executor=self)
                task._add_waker(lambda _: self._end(entity))
                task._add_waker(self._note_failure)
                task()
            else:
                self._end(entity)

        return run

    def _started(self, entity: Entity) -> None:
        """A callback of the entity has its thread."""

    def _end(self, entity: Entity) -> None:
        """Free the callback group and look again at what waited for it."""
        if entity.callback_group is not None:
            entity.callback_group.ending_execution(entity)
        self._look_again()

    def _look_again(self) -> None:
        """Wake where something was held back."""
        if self._held_back:
            self._held_back = False
            self._short_waits = 0  # it is no message that wakes
            self.wake()

    def _begin(self, entity: Entity) -> bool:
        """Take the callback group; if it cannot be had, its end wakes this executor."""
        group = entity.callback_group
        if group is None or group.beginning_execution(entity):
            return True
        self._held_back = True  # before the second try: who ends in between has not seen it
        return group.beginning_execution(entity)

    def can_execute(self, entity: Entity) -> bool:
        """True when no running callback of the entity's group keeps the entity from running."""
        group = entity.callback_group
        return not entity._destroyed and (group is None or group.can_execute(entity))

    def _can_start(self, entity: Entity) -> bool:
        """True when the callback group is free; if not, its end wakes this executor."""
        group = entity.callback_group
        if group is None or group.can_execute(entity):
            return True
        self._held_back = True
        return group.can_execute(entity)

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
