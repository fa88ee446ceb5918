"""A lifecycle node in a process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from launch import LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.actions import EmitEvent
from launch.event_handlers import OnProcessStart
from launch.event_handlers.call_on_event import CallOnEvent
from launch.events import matches_action
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions
from launch.utilities.values import SomeBool, perform_bool

from ..event_handlers import OnStateTransition
from ..events.lifecycle import ChangeState, StateTransition
from ..events.lifecycle.transitions import Transition
from .node import Node


@expose_action("lifecycle_node")
class LifecycleNode(Node):
    """A node whose states the launch follows and changes.

    A `ChangeState` event is turned into a call of the node's service, each transition of the node into a
    `StateTransition` event.

    Args:
        name: the node's name.
        namespace: its namespace, '' for the launch's own.
        autostart: whether to configure and activate the node as soon as it runs.
        **kwargs: see `Node`.
    """

    def __init__(
        self,
        *,
        name: SomeSubstitutionsType,
        namespace: SomeSubstitutionsType,
        autostart: SomeBool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
        self.__autostart: Any = (
            autostart if isinstance(autostart, bool) else normalize_to_list_of_substitutions(autostart)
        )

    @classmethod
    def parse(cls, entity: Entity, parser: Parser, ignore: Iterable[str] = ()) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser, ignore)
        kwargs.setdefault("namespace", "")
        if "name" not in kwargs:
            raise AttributeError(f"'{entity.type_name}' needs the attribute 'name'")
        autostart = entity.get_attr("autostart", data_type=bool, optional=True)
        if autostart is not None:
            kwargs["autostart"] = parser.parse_if_substitutions(autostart)
        return cls, kwargs

    @property
    def node_autostart(self) -> Any:
        """Whether the launch configures and activates the node, before substitution."""
        return self.__autostart

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the node, follow its transitions and pass requests on to it."""
        entities = super().execute(context)
        if context.is_shutdown:
            return entities
        from ..lifecycle_client import LifecycleClient

        loop = context.running_loop()

        def report(message: Any) -> None:
            event = StateTransition(action=self, msg=message)
            loop.call_soon_threadsafe(context.emit_event_sync, event)

        # The process itself starts with the next turn of the loop: nothing it says is missed.
        client = LifecycleClient(context, self.node_name, report)
        context.register_event_handler(
            CallOnEvent(
                lambda event: isinstance(event, ChangeState) and event.lifecycle_node_matcher(self),
                lambda event, context: context.add_completion_future(
                    client.change_state(event.transition_id)
                ),
            )
        )
        if perform_bool(context, self.__autostart, "autostart"):
            self.__register_autostart(context)
        return entities

    def __register_autostart(self, context: LaunchContext) -> None:
        def request(transition_id: int) -> EmitEvent:
            event = ChangeState(lifecycle_node_matcher=matches_action(self), transition_id=transition_id)
            return EmitEvent(event=event)

        context.register_event_handler(
            OnProcessStart(target_action=self, on_start=[request(Transition.TRANSITION_CONFIGURE)])
        )
        context.register_event_handler(
            OnStateTransition(
                target_lifecycle_node=self,
                start_state="configuring",
                goal_state="inactive",
                entities=[request(Transition.TRANSITION_ACTIVATE)],
                handle_once=True,
            )
        )
