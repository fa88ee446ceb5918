"""A clean slate of launch configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..frontend.pairs import parse_pairs, split_kept
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.type_utils import is_normalized_substitution

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext

Configurations = Mapping[SomeSubstitutionsType, Any] | Iterable[tuple[SomeSubstitutionsType, Any]]
"""Launch configurations by name, or pairs of name and value: texts and substitutions, or lists as the actions
of launch_ros keep them."""


def as_pairs(configurations: Configurations | None) -> list[tuple[SomeSubstitutionsType, Any]]:
    """Return configurations as pairs of name and value."""
    return list(configurations.items() if isinstance(configurations, Mapping) else configurations or ())


def normalized_pairs(
    pairs: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]],
) -> list[tuple[list[Substitution], list[Substitution]]]:
    """Return pairs with both sides as lists of substitutions."""
    return [
        (normalize_to_list_of_substitutions(name), normalize_to_list_of_substitutions(value))
        for name, value in pairs
    ]


def _normalized_value(value: Any) -> Any:
    """Return text and substitutions as a list of substitutions, and a list of anything else, such as that of
    the parameters for all nodes, as it is."""
    if isinstance(value, list) and not all(isinstance(part, (str, Substitution)) for part in value):
        return value
    return normalize_to_list_of_substitutions(value)


@expose_action("reset")
class ResetLaunchConfigurations(Action):
    """Removes all launch configurations but those given, whose values are worked out before."""

    def __init__(
        self,
        launch_configurations: Configurations | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__kept = [
            (normalize_to_list_of_substitutions(name), _normalized_value(value))
            for name, value in as_pairs(launch_configurations)
        ]

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kept, _ = split_kept(entity)
        kwargs["launch_configurations"] = parse_pairs(kept, parser)
        return cls, kwargs

    def describe(self) -> str:
        """Return a short text for people."""
        return f"ResetLaunchConfigurations({len(self.__kept)} kept)"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Replace the configurations."""
        context.launch_configurations = {
            perform_substitutions(context, name): (
                perform_substitutions(context, value) if is_normalized_substitution(value) else value
            )
            for name, value in self.__kept
        }
        return None
