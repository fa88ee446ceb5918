"""Transitions of lifecycle nodes that the launch may not have started."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, ClassVar

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.actions import OpaqueFunction
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..events.lifecycle.transitions import Transition
from ..lifecycle_client import LifecycleClient

# Numbers of `lifecycle_msgs/msg/State`.
_UNCONFIGURED, _INACTIVE, _ACTIVE, _FINALIZED = 1, 2, 3, 4


@expose_action("lifecycle_transition")
class LifecycleTransition(Action):
    """Takes lifecycle nodes through transitions: each node all of them in order, the nodes at the same time.

    A node that refuses or fails one takes no further ones.

    Args:
        lifecycle_node_names: full names of the nodes.
        transition_ids: numbers or names of transitions, such as 1 or `configure`.
    """

    transition_targets: ClassVar[dict[int, int]] = {
        Transition.TRANSITION_CONFIGURE: _INACTIVE,
        Transition.TRANSITION_CLEANUP: _UNCONFIGURED,
        Transition.TRANSITION_ACTIVATE: _ACTIVE,
        Transition.TRANSITION_DEACTIVATE: _INACTIVE,
        Transition.TRANSITION_UNCONFIGURED_SHUTDOWN: _FINALIZED,
        Transition.TRANSITION_INACTIVE_SHUTDOWN: _FINALIZED,
        Transition.TRANSITION_ACTIVE_SHUTDOWN: _FINALIZED,
    }
    """The state that each transition leads to, by its number."""

    def __init__(
        self,
        *,
        lifecycle_node_names: Iterable[SomeSubstitutionsType],
        transition_ids: Iterable[int | SomeSubstitutionsType],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__names = [normalize_to_list_of_substitutions(name) for name in lifecycle_node_names]
        self.__transitions = [
            normalize_to_list_of_substitutions(str(int(item)) if isinstance(item, int) else item)
            for item in transition_ids
        ]
        if not self.__names or not self.__transitions:
            raise ValueError("LifecycleTransition needs at least one node name and one transition")

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element with lists, split by blanks."""
        _, kwargs = super().parse(entity, parser)
        for attribute in ("lifecycle_node_names", "transition_ids"):
            value = entity.get_attr(attribute, data_type=None)
            words = [str(item) for item in value] if isinstance(value, list) else str(value).split()
            kwargs[attribute] = [parser.parse_substitution(word) for word in words]
        return cls, kwargs

    def describe(self) -> str:
        """Return the names in words."""
        names = (" + ".join(sub.describe() for sub in name) for name in self.__names)
        return f"LifecycleTransition({', '.join(names)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Return what begins, an action for each node; the launch goes on meanwhile.

        Raises:
            ValueError: a transition is unknown.
        """
        ids = [_transition_id(perform_substitutions(context, item)) for item in self.__transitions]
        return [_begin(perform_substitutions(context, parts), ids) for parts in self.__names]


def _begin(name: str, transition_ids: list[int]) -> OpaqueFunction:
    """Return the action that takes one node through the transitions."""

    def begin(context: LaunchContext) -> None:
        client = LifecycleClient(context, name if name.startswith("/") else f"/{name}", None)
        context.add_completion_future(asyncio.ensure_future(_take(client, transition_ids)))

    return OpaqueFunction(function=begin)


async def _take(client: LifecycleClient, transition_ids: list[int]) -> None:
    for transition_id in transition_ids:
        if not await client.change_state(transition_id):
            return


def _transition_id(text: str) -> int:
    if text.isdigit():
        return int(Transition(int(text)))
    name = f"TRANSITION_{text.upper()}"
    if name not in Transition.__members__:
        known = ", ".join(one.name.removeprefix("TRANSITION_").lower() for one in Transition)
        raise ValueError(f"transition '{text}' is unknown; known: {known}")
    return int(Transition[name])
