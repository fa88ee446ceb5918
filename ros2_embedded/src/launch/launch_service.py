"""The loop that runs launch descriptions."""

from __future__ import annotations

import asyncio
import signal
import threading
import traceback
from collections.abc import Coroutine, Iterable
from typing import Any

from .event import Event
from .event_handlers import OnIncludeLaunchDescription, OnShutdown
from .events import HurryShutdown, IncludeLaunchDescription, Shutdown
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity, description_of
from .logging import get_logger, launch_config
from .utilities.done import Done
from .utilities.visit import thread_event_loop


class LaunchService:
    """Visits descriptions, hands events to their handlers, and ends when nothing is left to do.

    Args:
        argv: the command line, for launch files that look at it.
        noninteractive: whether nobody sits at a terminal.
        debug: log at DEBUG level, with tracebacks.
        log_file_name: of the main log; without its suffix it names the launch's own lines.
    """

    def __init__(
        self,
        *,
        argv: Iterable[str] | None = None,
        noninteractive: bool = False,
        debug: bool = False,
        log_file_name: str = "launch.log",
    ) -> None:
        if debug:
            launch_config.level = 10
        self._log_file_name = log_file_name if log_file_name.endswith(".log") else f"{log_file_name}.log"
        self._logger_name = self._log_file_name.removesuffix(".log")
        launch_config.log_file_name = self._log_file_name
        self.__logger = get_logger(self._logger_name)
        self.__debug = debug
        self.__context = LaunchContext(argv=argv, noninteractive=noninteractive)
        self.__context.extend_globals({"launch_service": self})
        self.__context.register_event_handler(OnIncludeLaunchDescription())
        self.__context.register_event_handler(OnShutdown(on_shutdown=self.__on_shutdown))
        self.__loop: asyncio.AbstractEventLoop | None = None
        self.__thread: int | None = None
        self.__task: asyncio.Task[Any] | None = None
        self.__futures: set[asyncio.Future[Any]] = set()
        self.__return_code = 0
        self.__failure: BaseException | None = None
        self.__interrupts = 0

    @property
    def context(self) -> LaunchContext:
        """The state of the launch."""
        return self.__context

    @property
    def event_loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop; None while the service does not run."""
        return self.__loop

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Add a description, before the service runs or while it does, from any thread."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def emit_event(self, event: Event) -> None:
        """Queue an event, from any thread."""
        if self.__loop is None:
            self.__context.emit_event_sync(event)
        else:
            self.__loop.call_soon_threadsafe(self.__context.emit_event_sync, event)

    @property
    def task(self) -> asyncio.Task[Any] | None:
        """The task that runs the launch; None while the service does not run."""
        return self.__task

    @property
    def failure(self) -> BaseException | None:
        """The first exception in the launch itself; None without one. Processes that fail raise none."""
        return self.__failure

    def shutdown(self, force_sync: bool = False) -> Coroutine[Any, Any, None] | None:
        """Ask the launch to stop what it started and end, from any thread.

        Args:
            force_sync: return None in any case.

        Returns:
            While the launch runs, and in its thread, something that may be awaited or made a task of, and
            need not be; else None.
        """
        self.emit_event(Shutdown(reason="LaunchService.shutdown() called"))
        in_its_thread = self.__loop is not None and threading.get_ident() == self.__thread
        return Done() if in_its_thread and not force_sync else None

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run until shut down, or until nothing is left to do, and return an exit code.

        Args:
            shutdown_when_idle: whether to end when no process, timer or event is left.

        Returns:
            0, or 1 after an error in the launch itself, or the code of the required process whose failure
            ended the launch.
        """
        before = thread_event_loop()
        try:
            return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle))
        finally:
            asyncio.set_event_loop(before)  # asyncio.run() leaves the thread without one

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Do what `run` does, inside a running loop. Cancelling it shuts the launch down, and it still
        returns in good order."""
        if self.__loop is not None:
            raise RuntimeError("this LaunchService runs already; make another one")
        self.__loop, self.__thread = asyncio.get_running_loop(), threading.get_ident()
        self.__task = asyncio.current_task()
        self.__context._set_asyncio_loop(self.__loop)
        self.__context._set_is_shutdown(False)
        self.__return_code = self.__interrupts = 0
        self.__failure = None
        handled = self.__install_signal_handlers()
        try:
            await self.__process_events(shutdown_when_idle)
        finally:
            await self.__loop.run_in_executor(None, self.__context.process_guard.close)
            for number in handled:
                self.__loop.remove_signal_handler(number)
            self.__context._set_asyncio_loop(None)
            self.__loop = self.__task = None
        return self.__return_code

    def __install_signal_handlers(self) -> list[signal.Signals]:
        if self.__loop is None or threading.current_thread() is not threading.main_thread():
            return []  # only the main thread may; whoever owns it decides what signals mean
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
        for number in numbers:
            self.__loop.add_signal_handler(number, self.__on_signal, number)
        return numbers

    def __on_signal(self, number: signal.Signals) -> None:
        self.__interrupts += 1
        due_to_sigint = number == signal.SIGINT
        if self.__interrupts > 1:
            self.__logger.warning(f"got {number.name} again: going on to the next signal at once")
            self.__context.emit_event_sync(HurryShutdown())
            return
        said = "user interrupted with ctrl-c (SIGINT)" if due_to_sigint else f"got {number.name}"
        self.__logger.warning(said)
        reason = "ctrl-c (SIGINT)" if due_to_sigint else f"got signal {number.name}"
        self.__context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))

    async def __process_events(self, shutdown_when_idle: bool) -> None:
        queue = self.__context.event_queue
        next_event: asyncio.Future[Event] = asyncio.ensure_future(queue.get())
        try:
            while True:
                self.__futures.update(self.__context.take_completion_futures())
                self.__collect_done()
                idle = not self.__futures and queue.empty() and not next_event.done()
                # A task that has just been made has not looked into the queue yet.
                if idle:
                    await asyncio.sleep(0)
                    idle = queue.empty() and not next_event.done()
                if idle and self.__context.is_shutdown:
                    return
                if idle and shutdown_when_idle:
                    self.__context.emit_event_sync(Shutdown(reason="idle"))
                try:
                    waiting: set[asyncio.Future[Any]] = {next_event, *self.__futures}
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                except asyncio.CancelledError:
                    self.__context.emit_event_sync(
                        Shutdown(reason="the task that runs the launch was cancelled")
                    )
                if next_event.done():
                    self.__handle(next_event.result())
                    next_event = asyncio.ensure_future(queue.get())
        finally:
            next_event.cancel()

    def __collect_done(self) -> None:
        for future in [future for future in self.__futures if future.done()]:
            self.__futures.discard(future)
            if not future.cancelled() and (error := future.exception()) is not None:
                self.__fail(error)

    def __handle(self, event: Event) -> None:
        if isinstance(event, Shutdown):
            self.__context._set_is_shutdown(True)
        for handler in self.__context.event_handlers:
            if not handler.matches(event):
                continue
            self.__context._push_locals()
            try:
                entities = handler.handle(event, self.__context)
                if entities is None:
                    continue
                for entity in [entities] if isinstance(entities, LaunchDescriptionEntity) else entities:
                    self.__visit(entity)
            # Launch files are programs: whatever they raise ends the launch in good order and is logged.
            except Exception as error:  # noqa: BLE001
                self.__fail(error)
            finally:
                self.__context._pop_locals()

    def __visit(self, entity: LaunchDescriptionEntity) -> None:
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f"expected launch description entities, found {entity!r}: return actions")
        self.__logger.debug(f"visiting {description_of(entity)}")
        children = entity.visit(self.__context)
        future = entity.get_asyncio_future()
        if future is not None:
            self.__futures.add(future)
        for child in children or ():
            self.__visit(child)
        entity._leave(self.__context)

    def __fail(self, error: BaseException) -> None:
        if self.__debug:
            self.__logger.debug("".join(traceback.format_exception(error)))
        hint = "" if self.__debug else " (ros2 launch --debug shows where)"
        self.__logger.error(f"caught exception in launch{hint}: {str(error) or type(error).__name__}")
        self.__return_code = 1
        self.__failure = self.__failure or error
        if not self.__context.is_shutdown:
            reason = f"caught exception in launch: {error}"
            self.__context.emit_event_sync(Shutdown(reason=reason, return_code=1))

    def __on_shutdown(self, event: Shutdown, context: LaunchContext) -> None:
        self.__return_code = self.__return_code or event.return_code
        self.__logger.debug(f"shutting down: {event.reason}")
