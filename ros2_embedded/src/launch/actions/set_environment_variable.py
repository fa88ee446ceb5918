"""Setting environment variables."""

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


@expose_action("set_env")
class SetEnvironmentVariable(Action):
    """Sets a variable in the environment of what the launch starts from here on."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.parse_substitution(entity.get_attr("name"))
        kwargs["value"] = parser.parse_substitution(entity.get_attr("value"))
        return cls, kwargs

    @property
    def name(self) -> list[Substitution]:
        """The name of the variable, before substitution."""
        return self.__name

    @property
    def value(self) -> list[Substitution]:
        """The value, before substitution."""
        return self.__value

    def describe(self) -> str:
        """Return a short text for people."""
        return f"SetEnvironmentVariable({' + '.join(sub.describe() for sub in self.__name)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the variable."""
        name = perform_substitutions(context, self.__name)
        context.environment[name] = perform_substitutions(context, self.__value)
        return None
