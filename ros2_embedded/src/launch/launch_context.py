"""The state a launch carries from entity to entity."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .event import Event
from .event_handler import BaseEventHandler
from .processes import Guard
from .substitution import Substitution

if TYPE_CHECKING:
    from .launch_service import LaunchService


class LaunchLocals:
    """Attribute access to the context's local and global values; `extend_locals` adds to them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__["_values"] = dict(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"cannot set '{name}': locals are read-only, use extend_locals({{'{name}': ...}})"
        )

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            known = ", ".join(sorted(self.__dict__["_values"])) or "none"
            raise AttributeError(f"the launch context has no local '{name}'; it has: {known}") from None


class LaunchContext:
    """Launch configurations, environment, locals, event handlers and the queue of events.

    The environment starts as a copy of the process's own: what a launch file sets reaches the processes it
    starts and the substitutions it performs, and never the program that runs the `LaunchService`.
    """

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        self.__argv = list(argv) if argv is not None else []
        self.__noninteractive = noninteractive
        self.launch_configurations: dict[str, Any] = {}
        self.environment: dict[str, str] = dict(os.environ)
        self.__configuration_stack: list[dict[str, Any]] = []
        self.__environment_stack: list[dict[str, str]] = []
        self.__globals: dict[str, Any] = {}
        self.__locals: dict[str, Any] = {}
        self.__locals_stack: list[dict[str, Any]] = []
        self._event_handlers: list[BaseEventHandler] = []
        self._event_queue: asyncio.Queue[Event] = asyncio.Queue()
        self.__completion_futures: list[asyncio.Future[Any]] = []
        self.__loop: asyncio.AbstractEventLoop | None = None
        self.__is_shutdown = False
        self.__process_count = 0
        self.process_guard = Guard()

    @property
    def argv(self) -> list[str]:
        """The command line the launch was started with."""
        return self.__argv

    @property
    def noninteractive(self) -> bool:
        """Whether nobody sits at a terminal."""
        return self.__noninteractive

    @property
    def is_shutdown(self) -> bool:
        """Whether the launch is on its way down."""
        return self.__is_shutdown

    def next_process_number(self) -> int:
        """Return 1 for the first process of the launch, then 2, and so on."""
        self.__process_count += 1
        return self.__process_count

    def _set_is_shutdown(self, state: bool) -> None:
        self.__is_shutdown = state

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that runs the launch; None while it does not run."""
        return self.__loop

    def _set_asyncio_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self.__loop = loop
        if loop is not None:  # a queue belongs to the loop it was first waited on with
            waiting, self._event_queue = self._event_queue, asyncio.Queue()
            while not waiting.empty():
                self._event_queue.put_nowait(waiting.get_nowait())

    def running_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop; raise RuntimeError when the launch does not run."""
        if self.__loop is None:
            raise RuntimeError("the launch does not run: visit this entity through a LaunchService")
        return self.__loop

    @property
    def launch_service(self) -> LaunchService:
        """The service that runs this launch."""
        service: LaunchService = self.__globals["launch_service"]
        return service

    @property
    def locals(self) -> LaunchLocals:
        """Locals over globals, as attributes: `context.locals.event`."""
        return LaunchLocals(self.get_locals_as_dict())

    def get_locals_as_dict(self) -> dict[str, Any]:
        """Return locals over globals as a new dict."""
        return {**self.__globals, **self.__locals}

    def extend_globals(self, extra: Mapping[str, Any]) -> None:
        """Add values that stay for the whole launch."""
        self.__globals.update(extra)

    def extend_locals(self, extra: Mapping[str, Any]) -> None:
        """Add values that stay until the locals are popped."""
        self.__locals.update(extra)

    def _push_locals(self) -> None:
        self.__locals_stack.append(dict(self.__locals))

    def _pop_locals(self) -> None:
        if not self.__locals_stack:
            raise RuntimeError("popped the locals of the launch context more often than they were pushed")
        self.__locals = self.__locals_stack.pop()

    def _clear_locals(self) -> None:
        self.__locals = {}

    def _push_launch_configurations(self) -> None:
        # Lists (namespaces, global parameters, remappings) are replaced by their users, never changed in
        # place.
        self.__configuration_stack.append(dict(self.launch_configurations))

    def _pop_launch_configurations(self) -> None:
        if not self.__configuration_stack:
            raise RuntimeError("popped the launch configurations more often than they were pushed")
        self.launch_configurations = self.__configuration_stack.pop()

    def _push_environment(self) -> None:
        self.__environment_stack.append(dict(self.environment))

    def _pop_environment(self) -> None:
        if not self.__environment_stack:
            raise RuntimeError("popped the environment more often than it was pushed")
        self.environment = self.__environment_stack.pop()

    def _reset_environment(self) -> None:
        self.environment = dict(os.environ)

    def register_event_handler(self, event_handler: BaseEventHandler, append: bool = False) -> None:
        """Add a handler: in front of the others, as the newest wins, or behind them."""
        self._event_handlers.insert(len(self._event_handlers) if append else 0, event_handler)

    def unregister_event_handler(self, event_handler: BaseEventHandler) -> None:
        """Remove a handler; raise ValueError when it is not registered."""
        if event_handler not in self._event_handlers:
            raise ValueError(f"event handler {event_handler!r} is not registered")
        self._event_handlers.remove(event_handler)

    @property
    def event_handlers(self) -> tuple[BaseEventHandler, ...]:
        """The registered handlers, newest first."""
        return tuple(self._event_handlers)

    def would_handle_event(self, event: Event) -> bool:
        """Return whether a handler matches `event`."""
        return any(handler.matches(event) for handler in self._event_handlers)

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event; only from the thread of the loop."""
        self._event_queue.put_nowait(event)

    async def emit_event(self, event: Event) -> None:
        """Queue an event."""
        await self._event_queue.put(event)

    @property
    def event_queue(self) -> asyncio.Queue[Event]:
        """The events that wait for their handlers."""
        return self._event_queue

    def add_completion_future(self, future: asyncio.Future[Any]) -> None:
        """Make the launch wait for `future` before it counts as idle."""
        self.__completion_futures.append(future)

    def take_completion_futures(self) -> list[asyncio.Future[Any]]:
        """Return the futures added since the last call."""
        taken, self.__completion_futures = self.__completion_futures, []
        return taken

    def perform_substitution(self, sub: Substitution) -> str:
        """Return the text a substitution stands for."""
        return sub.perform(self)
