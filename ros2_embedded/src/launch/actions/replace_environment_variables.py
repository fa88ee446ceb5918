"""An environment of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..frontend.pairs import parse_pairs
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities.substitutions import perform_substitutions
from .reset_launch_configurations import as_pairs, normalized_pairs

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("rep_env")
class ReplaceEnvironmentVariables(Action):
    """Replaces the environment of what the launch starts from here on by the variables given."""

    def __init__(
        self, environment: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__environment = normalized_pairs(as_pairs(environment))

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        elements = entity.get_attr("env", data_type=list[Entity], optional=True)
        kwargs["environment"] = parse_pairs(elements, parser)
        return cls, kwargs

    @property
    def environment(self) -> list[tuple[Any, Any]]:
        """The variables, before substitution."""
        return self.__environment

    def describe(self) -> str:
        """Return how many variables there are."""
        return f"ReplaceEnvironmentVariables({len(self.__environment)} variables)"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Replace the environment; the values may refer to the old one."""
        context.environment = {
            perform_substitutions(context, name): perform_substitutions(context, value)
            for name, value in self.__environment
        }
        return None
