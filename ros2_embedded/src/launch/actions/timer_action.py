"""Actions after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..event import Event
from ..event_handler import BaseEventHandler, EventHandler
from ..event_handlers.on_shutdown import OnShutdown
from ..events import TimerEvent
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..utilities.arguments import normalize_to_list_of_entities
from ..utilities.values import SomeFloat, perform_float
from .opaque_function import OpaqueFunction
from .pop_environment import PopEnvironment
from .pop_launch_configurations import PopLaunchConfigurations
from .push_environment import PushEnvironment
from .push_launch_configurations import PushLaunchConfigurations

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("timer")
class TimerAction(Action):
    """Visits actions when a period is over, with the configurations and the environment of its start.

    Args:
        period: the period [s].
        actions: the actions.
        cancel_on_shutdown: whether a launch that shuts down does not wait for the period.
    """

    def __init__(
        self,
        *,
        period: SomeFloat,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__period = period
        self.__actions = normalize_to_list_of_entities(actions)
        self.__cancel_on_shutdown = cancel_on_shutdown
        self.__canceled = False
        self.__future: asyncio.Future[None] | None = None
        self.__handlers: list[BaseEventHandler] = []

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["period"] = parser.parse_if_substitutions(entity.get_attr("period", data_type=float))
        kwargs["actions"] = [parser.parse_action(child) for child in entity.children]
        return cls, kwargs

    @property
    def period(self) -> SomeFloat:
        """The period [s]."""
        return self.__period

    @property
    def actions(self) -> list[LaunchDescriptionEntity]:
        """The actions."""
        return self.__actions

    @property
    def handle(self) -> asyncio.Future[None] | None:
        """What waits for the period; None before it started."""
        return self.__future

    def describe(self) -> str:
        """Return the number of actions."""
        return f"TimerAction({len(self.__actions)} actions)"

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the actions."""
        return [(f"after {self.__period} s", self.__actions)]

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that is done when the period is over or the timer cancelled."""
        return self.__future

    def cancel(self) -> None:
        """Stop the timer, also before it starts; its actions are not visited."""
        self.__canceled = True
        if self.__future is not None:
            self.__future.cancel()

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the timer, unless it was cancelled."""
        if self.__canceled:
            return None
        period = perform_float(context, self.__period, "period of TimerAction")
        fire = EventHandler(
            matcher=lambda event: isinstance(event, TimerEvent) and event.timer_action is self,
            entities=self.__in_scope_of(context),
            handle_once=True,
        )
        self.__handlers = [fire]
        if self.__cancel_on_shutdown:
            self.__handlers.append(OnShutdown(on_shutdown=lambda event, context: self.cancel()))
        for handler in self.__handlers:
            context.register_event_handler(handler)
        self.__future = context.running_loop().create_task(self.__wait(context, period))
        return None

    def __in_scope_of(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        configurations = dict(context.launch_configurations)
        environment = dict(context.environment)
        known = context.get_locals_as_dict()

        def enter(context: LaunchContext) -> None:
            context.launch_configurations = dict(configurations)
            context.environment = dict(environment)
            context.extend_locals({name: value for name, value in known.items() if name != "event"})

        return [
            PushLaunchConfigurations(),
            PushEnvironment(),
            OpaqueFunction(function=enter),
            *self.__actions,
            PopEnvironment(),
            PopLaunchConfigurations(),
        ]

    async def wait_for_period(self, context: LaunchContext, period: float) -> None:
        """Wait for the period [s], by the clock of this machine."""
        await asyncio.sleep(period)

    async def __wait(self, context: LaunchContext, period: float) -> None:
        await self.wait_for_period(context, period)
        event: Event = TimerEvent(timer_action=self)
        context.emit_event_sync(event)
