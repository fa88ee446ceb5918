"""The base of everything a launch description can hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Something that is visited once when its turn comes, and may put further entities in its place."""

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do the entity's work and return the entities to visit next, in order, or None; None by default."""
        return None

    def _leave(self, context: LaunchContext) -> None:
        """Called when the entities that `visit` returned were visited."""

    def describe(self) -> str:
        """Return a short text for people; entities that have one replace this."""
        raise NotImplementedError(f"{type(self).__name__} has no description")

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities this one will certainly visit, as far as that is known without a context."""
        return []

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return pairs of a condition in words and the entities visited when it holds."""
        return []

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the entity's work is over; None when it is over after `visit`."""
        return None


def description_of(entity: LaunchDescriptionEntity) -> str:
    """Return what an entity says of itself, or what Python says of one without a description."""
    try:
        return entity.describe()
    except NotImplementedError:
        return repr(entity)
