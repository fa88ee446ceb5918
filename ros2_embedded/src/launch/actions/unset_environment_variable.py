"""Removing environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("unset_env")
class UnsetEnvironmentVariable(Action):
    """Removes a variable from the environment of what the launch starts from here on."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.parse_substitution(entity.get_attr("name"))
        return cls, kwargs

    @property
    def name(self) -> list[Substitution]:
        """The name of the variable, before substitution."""
        return self.__name

    def describe(self) -> str:
        """Return a short text for people."""
        return f"UnsetEnvironmentVariable({' + '.join(sub.describe() for sub in self.__name)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Remove the variable if it is there."""
        context.environment.pop(perform_substitutions(context, self.__name), None)
        return None
