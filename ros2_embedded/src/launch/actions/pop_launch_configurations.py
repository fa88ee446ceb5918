"""Brings back the launch configurations of the last `PushLaunchConfigurations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("pop_launch_configurations")
class PopLaunchConfigurations(Action):
    """Brings back the launch configurations of the last `PushLaunchConfigurations`."""

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        return cls, kwargs

    def describe(self) -> str:
        """Return a short text for people."""
        return "PopLaunchConfigurations()"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Do it."""
        context._pop_launch_configurations()
        return None
