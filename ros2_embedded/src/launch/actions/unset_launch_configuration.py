"""Removing launch configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("unset")
class UnsetLaunchConfiguration(Action):
    """Removes a launch configuration."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.parse_substitution(entity.get_attr("name"))
        return cls, kwargs

    def describe(self) -> str:
        """Return a short text for people."""
        return f"UnsetLaunchConfiguration({' + '.join(sub.describe() for sub in self.__name)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Remove the configuration if it is there."""
        context.launch_configurations.pop(perform_substitutions(context, self.__name), None)
        return None
