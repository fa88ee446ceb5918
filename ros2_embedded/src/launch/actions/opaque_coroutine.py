"""A Python coroutine as an action."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..event_handlers.on_shutdown import OnShutdown
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class OpaqueCoroutine(Action):
    """Runs `coroutine([context,] *args, **kwargs)` beside the launch, which cancels it when it shuts down.

    Args:
        coroutine: the coroutine function.
        args: its arguments.
        kwargs: its keyword arguments.
        ignore_context: whether the context is not passed first.
    """

    def __init__(
        self,
        *,
        coroutine: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        ignore_context: bool = False,
        **left_over_kwargs: Any,
    ) -> None:
        super().__init__(**left_over_kwargs)
        if not asyncio.iscoroutinefunction(coroutine):
            raise TypeError(f"OpaqueCoroutine takes a coroutine function (async def), not {coroutine!r}")
        self.__coroutine = coroutine
        self.__args = tuple(args or ())
        self.__kwargs = dict(kwargs or {})
        self.__ignore_context = ignore_context
        self.__future: asyncio.Future[None] | None = None

    def describe(self) -> str:
        """Return the coroutine's name."""
        return f"OpaqueCoroutine({getattr(self.__coroutine, '__name__', repr(self.__coroutine))})"

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return the future of the coroutine."""
        return self.__future

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the coroutine."""
        args = self.__args if self.__ignore_context else (context, *self.__args)
        task = context.running_loop().create_task(self.__coroutine(*args, **self.__kwargs))
        self.__future = task

        def cancel(event: object, context: LaunchContext) -> None:
            task.cancel()

        context.register_event_handler(OnShutdown(on_shutdown=cancel))
        return None
