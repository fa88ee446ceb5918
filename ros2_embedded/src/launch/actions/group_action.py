"""Several actions with a scope of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..frontend.pairs import parse_pairs, split_kept
from ..launch_description_entity import LaunchDescriptionEntity
from ..utilities.arguments import normalize_to_list_of_entities
from .pop_environment import PopEnvironment
from .pop_launch_configurations import PopLaunchConfigurations
from .push_environment import PushEnvironment
from .push_launch_configurations import PushLaunchConfigurations
from .reset_environment import ResetEnvironment
from .reset_launch_configurations import Configurations, ResetLaunchConfigurations, as_pairs
from .set_launch_configuration import SetLaunchConfiguration

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("group")
class GroupAction(Action):
    """Visits actions one after the other.

    Args:
        actions: the actions.
        scoped: whether configurations and environment are as before after the group.
        forwarding: whether the group sees what was set before it; if not, only `launch_configurations`, and
            without a scope neither does what comes after it.
        launch_configurations: configurations to set inside the group.
    """

    def __init__(
        self,
        actions: Iterable[Action],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Configurations | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__actions = normalize_to_list_of_entities(actions)
        self.__scoped = scoped
        self.__forwarding = forwarding
        self.__launch_configurations = as_pairs(launch_configurations)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        scoped = entity.get_attr("scoped", data_type=bool, optional=True, can_be_str=False)
        if scoped is not None:
            kwargs["scoped"] = scoped
        forwarding = entity.get_attr("forwarding", data_type=bool, optional=True, can_be_str=False)
        if forwarding is not None:
            kwargs["forwarding"] = forwarding
        kept, children = split_kept(entity)
        kwargs["launch_configurations"] = parse_pairs(kept, parser)
        kwargs["actions"] = [parser.parse_action(child) for child in children]
        return cls, kwargs

    def describe(self) -> str:
        """Return how many actions there are."""
        return f"GroupAction({len(self.__actions)} actions)"

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions with what opens and closes their scope."""
        settings: list[LaunchDescriptionEntity] = []
        if self.__forwarding:
            settings += [SetLaunchConfiguration(key, value) for key, value in self.__launch_configurations]
        else:
            settings += [ResetEnvironment(), ResetLaunchConfigurations(self.__launch_configurations)]
        inner = [*settings, *self.__actions]
        if not self.__scoped:
            return inner
        return [
            PushLaunchConfigurations(),
            PushEnvironment(),
            *inner,
            PopEnvironment(),
            PopLaunchConfigurations(),
        ]

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions, unless they hang on a condition."""
        return [] if self.condition is not None else list(self.__actions)

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the actions if they hang on a condition."""
        return [(self.condition.describe(), list(self.__actions))] if self.condition is not None else []

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Return the actions in their scope."""
        return self.get_sub_entities()
