"""Visiting entities without a service."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from ..launch_description_entity import LaunchDescriptionEntity


def thread_event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that is set for this thread, after setting a new one where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12 and later, where none is set
        try:
            return asyncio.get_event_loop()
        except RuntimeError:
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
            return loop


def create_future(loop: asyncio.AbstractEventLoop | None) -> asyncio.Future[Any]:
    """Return a new future of a loop, by default of the one of this thread."""
    return (loop or thread_event_loop()).create_future()


def visit_all_entities_and_collect_futures(
    entity: LaunchDescriptionEntity, context: LaunchContext
) -> list[tuple[LaunchDescriptionEntity, asyncio.Future[Any]]]:
    """Visit an entity and all it stands for; return those that go on for a while, each with its future."""
    found: list[tuple[LaunchDescriptionEntity, asyncio.Future[Any]]] = []
    children = entity.visit(context)
    future = entity.get_asyncio_future()
    if future is not None:
        found.append((entity, future))
    for child in children or ():
        found += visit_all_entities_and_collect_futures(child, context)
    entity._leave(context)
    return found
