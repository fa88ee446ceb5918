"""Waiting for a condition that events of a process may have changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launch import LaunchContext
    from launch.actions import ExecuteLocal


async def wait_until(
    context: LaunchContext,
    action: ExecuteLocal,
    condition: Callable[[], bool],
    handlers_that: Callable[[Callable[[], None]], list[Any]],
    timeout: float | None,
) -> bool:
    """Wait in the loop of the launch.

    Args:
        context: of the launch.
        action: that starts the process.
        condition: what is waited for.
        handlers_that: makes the event handlers that call what they are given when it may have changed.
        timeout: the longest time [s]; None waits until the process or the launch has ended for good.

    Returns:
        Whether it came in time.
    """
    if context.asyncio_loop is None:  # nothing comes any more
        return condition()
    changed, over = asyncio.Event(), context.launch_service.task
    handlers = handlers_that(changed.set)
    for handler in handlers:
        context.register_event_handler(handler, append=True)  # behind those of the process
    deadline = None if timeout is None else time.monotonic() + timeout
    try:
        while not condition():
            ends = [end for end in (over, action.get_asyncio_future()) if end is not None]
            left = None if deadline is None else deadline - time.monotonic()
            if any(end.done() for end in ends) or (left is not None and left <= 0):
                return condition()
            await _first(changed, ends, left)
        return True
    finally:
        for handler in handlers:
            if handler in context.event_handlers:
                context.unregister_event_handler(handler)


async def _first(changed: asyncio.Event, ends: list[Any], timeout: float | None) -> None:
    """Wait for the event or one of the ends."""
    waiter = asyncio.ensure_future(changed.wait())
    try:
        await asyncio.wait({waiter, *ends}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiter.cancel()
        changed.clear()


def wait_blocking(
    context: LaunchContext, function: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any
) -> Any:
    """Have a coroutine function of this package run in the loop of the launch, and wait for its result.

    Raises:
        RuntimeError: this thread runs the launch.
    """
    loop = context.asyncio_loop
    if loop is None:
        return _result_at_once(function(context, *arguments))
    if asyncio._get_running_loop() is loop:
        raise RuntimeError(
            f"{function.__name__}_sync() would stop the launch that it waits for; in a coroutine write "
            f"'await {function.__name__}(...)'"
        )
    future = asyncio.run_coroutine_threadsafe(function(context, *arguments), loop)
    try:
        return future.result()
    finally:
        future.cancel()


def _result_at_once(waiting: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that finds nothing to wait for, as the launch has ended."""
    try:
        waiting.send(None)
    except StopIteration as ended:
        return ended.value
    raise RuntimeError("the launch began anew while its end was awaited")
