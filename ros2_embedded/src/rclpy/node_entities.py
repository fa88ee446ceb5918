"""What a node owns: makes, lists and destroys publishers, subscriptions, services, clients and timers."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from threading import RLock
from typing import TYPE_CHECKING, Any

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.client import QUERY_TIMEOUT_S, Client
from rclpy.clock import Clock
from rclpy.endpoint import check_is_interface
from rclpy.entity import Entity
from rclpy.event_handler import (
    LostEvents,
    MatchedEvents,
    PublisherEventCallbacks,
    SubscriptionEventCallbacks,
)
from rclpy.guard_condition import GuardCondition
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, as_profile, qos_profile_services_default
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Rate, Timer
from rclpy.validate_names import validate_full_topic_name
from rclpy.waitable import Waitable, WaitableEntity
from ros2_embedded.wire.tokens import PUBLISHER, SUBSCRIPTION

if TYPE_CHECKING:
    from rclpy.action import ActionClient
    from rclpy.context import Context
    from rclpy.executors import Executor
    from rclpy.node import Node
    from rclpy.qos_overriding_options import QoSOverridingOptions
    from rclpy.subscription_content_filter_options import ContentFilterOptions


class EntityMixin:
    """Entities of a node; everything named here without an underscore is public in rclpy."""

    _context: Context
    _clock: Clock
    _rclpy_executor: Callable[[], Executor | None]

    if TYPE_CHECKING:

        def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str: ...
        def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str: ...

    def _rclpy_init_entities(self) -> None:
        """Start with nothing."""
        self._rclpy_entities: tuple[Entity, ...] = ()
        self._rclpy_timed: tuple[Timer | WaitableEntity, ...] = ()
        self._rclpy_changing = RLock()  # callbacks of several threads make and destroy entities
        self._rclpy_publishers: list[Publisher[Any]] = []
        self._default_callback_group = MutuallyExclusiveCallbackGroup()

    @property
    def default_callback_group(self) -> CallbackGroup:
        """The group of entities made without one: mutually exclusive."""
        return self._default_callback_group

    def _rclpy_as_node(self) -> Node:
        """This object, which is always a node."""
        return self  # type: ignore[return-value]

    def _rclpy_destroy_entities(self) -> None:
        """Destroy everything."""
        with self._rclpy_changing:
            entities = (*self._rclpy_entities, *self._rclpy_publishers)
            self._rclpy_set_entities(())
            self._rclpy_publishers = []
        for entity in entities:
            entity.destroy()

    def _rclpy_wake(self) -> None:
        """Wake the executor; called when an entity has something to do."""
        executor = self._rclpy_executor()
        if executor is not None:
            executor.wake()

    def _rclpy_pollable(self) -> tuple[Entity, ...]:
        """What an executor waits for."""
        return self._rclpy_entities

    def _rclpy_add(self, entity: Entity) -> None:
        entity._notify = self._rclpy_wake
        with self._rclpy_own(entity):
            entities = [*self._rclpy_entities, entity]
            self._rclpy_set_entities(tuple(sorted(entities, key=lambda known: known._turn)))
        self._rclpy_wake()

    @contextlib.contextmanager
    def _rclpy_own(self, entity: Entity) -> Iterator[None]:
        """Hold the lock to add a new entity, which is destroyed where another thread destroyed the node."""
        with self._rclpy_changing:
            if not self._rclpy_as_node()._rclpy_destroyed:
                yield
                return
        entity.destroy()
        self._rclpy_as_node()._rclpy_check_alive()

    def _rclpy_attach(self, owner: Entity, events: Entity) -> None:
        """Add the events of a publisher or a subscription, which go when it goes."""
        owner.event_handlers.append(events)
        owner._own_events.append(events)
        self._rclpy_add(events)

    def _rclpy_remove(self, entity: Any) -> bool:
        """Destroy an entity of this node; False when it is none."""
        if entity._destroyed:
            return False
        with self._rclpy_changing:
            if entity in self._rclpy_publishers:
                self._rclpy_publishers.remove(entity)
            elif entity in self._rclpy_entities:
                self._rclpy_forget(entity)
            else:
                return False
        for events in entity._own_events:
            self._rclpy_remove(events)
        entity.destroy()
        return True

    def _rclpy_forget(self, entity: Any) -> None:
        """Take an entity from what executors look at."""
        with self._rclpy_changing:
            self._rclpy_set_entities(tuple(known for known in self._rclpy_entities if known is not entity))

    def _rclpy_set_entities(self, entities: tuple[Entity, ...]) -> None:
        """Keep what executors look at, and apart from it what they may wait for by the clock."""
        self._rclpy_entities = entities
        self._rclpy_timed = tuple(
            entity for entity in entities if isinstance(entity, (Timer, WaitableEntity))
        )

    def _rclpy_of_kind(self, kind: type) -> Iterator[Any]:
        return (
            entity for entity in self._rclpy_entities if isinstance(entity, kind) and not entity._destroyed
        )

    @property
    def publishers(self) -> Iterator[Publisher[Any]]:
        """The node's publishers."""
        return (publisher for publisher in list(self._rclpy_publishers) if not publisher._destroyed)

    @property
    def subscriptions(self) -> Iterator[Subscription[Any]]:
        """The node's subscriptions."""
        return self._rclpy_of_kind(Subscription)

    @property
    def clients(self) -> Iterator[Client]:
        """The node's clients."""
        return self._rclpy_of_kind(Client)

    @property
    def services(self) -> Iterator[Service]:
        """The node's services."""
        return self._rclpy_of_kind(Service)

    @property
    def timers(self) -> Iterator[Timer]:
        """The node's timers."""
        return self._rclpy_of_kind(Timer)

    def _rclpy_wall_timers(self) -> Iterator[Timer]:
        """The timers that an executor of this node waits for: its own, and those of its waitables."""
        for entity in self._rclpy_timed:
            if isinstance(entity, WaitableEntity):
                yield from entity.timers
            elif not entity._destroyed:
                yield entity

    @property
    def guards(self) -> Iterator[GuardCondition]:
        """The node's guard conditions."""
        return self._rclpy_of_kind(GuardCondition)

    @property
    def waitables(self) -> Iterator[Waitable]:
        """What `add_waitable` added."""
        return (entity.waitable for entity in self._rclpy_of_kind(WaitableEntity))

    def add_waitable(self, waitable: Waitable) -> None:
        """Have the executor ask an object of your own; see `rclpy.waitable`."""
        self._rclpy_add(WaitableEntity(waitable))

    def remove_waitable(self, waitable: Waitable) -> None:
        """Undo `add_waitable`."""
        for entity in list(self._rclpy_of_kind(WaitableEntity)):
            if entity.waitable is waitable:
                self._rclpy_remove(entity)

    def _rclpy_profile(
        self, kind: type, topic: str, qos: QoSProfile | int, options: QoSOverridingOptions | None
    ) -> QoSProfile:
        """The profile of a new entity, after the overrides of parameters."""
        profile = as_profile(qos)
        if options is None:
            return profile
        from rclpy.qos_overriding_options import _declare_qos_parameters

        profile = copy.copy(profile)
        _declare_qos_parameters(kind, self._rclpy_as_node(), topic, profile, options)
        return profile

    def create_publisher(
        self,
        msg_type: Any,
        topic: str,
        qos_profile: QoSProfile | int,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: PublisherEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        publisher_class: type[Publisher[Any]] = Publisher,
    ) -> Publisher[Any]:
        """Make a publisher.

        Args:
            msg_type: message class.
            topic: relative, private or absolute name.
            qos_profile: a profile, or the depth of the default one.
            callback_group: of the event callbacks; None takes the node's default one.
            event_callbacks: see `rclpy.event_handler`.
            qos_overriding_options: policies that parameters may change.
            publisher_class: a class derived from `Publisher`.

        Raises:
            NoTypeSupportImportedException, InvalidTopicNameException, InvalidQosOverridesError: see there.
        """
        type_name = check_is_interface(msg_type, ("msg",))
        full = self.resolve_topic_name(topic)
        validate_full_topic_name(full)
        profile = self._rclpy_profile(Publisher, full, qos_profile, qos_overriding_options)
        publisher = publisher_class(self._rclpy_as_node(), msg_type, full, profile, type_name)
        with self._rclpy_own(publisher):
            self._rclpy_publishers.append(publisher)
        group = callback_group or self._default_callback_group
        callbacks = event_callbacks or PublisherEventCallbacks()
        publisher.event_handlers += callbacks.create_event_handlers(group, publisher.handle, full)
        if event_callbacks is not None and event_callbacks.matched is not None:
            place = (SUBSCRIPTION, full, type_name)
            graph = self._context.session.graph
            self._rclpy_attach(publisher, MatchedEvents(event_callbacks.matched, group, graph, place))
        return publisher

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., Any],
        qos_profile: QoSProfile | int,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        raw: bool = False,
        content_filter_options: ContentFilterOptions | None = None,
    ) -> Subscription[Any]:
        """Make a subscription.

        Args:
            msg_type: message class.
            topic: relative, private or absolute name.
            callback: gets the message, or the message and a `MessageInfo`.
            qos_profile: a profile, or the depth of the default one.
            callback_group: None takes the node's default one.
            event_callbacks: see `rclpy.event_handler`.
            qos_overriding_options: policies that parameters may change.
            raw: hand over the CDR bytes instead of a message.
            content_filter_options: not heeded, as `Subscription.is_cft_enabled` says.

        Raises:
            NoTypeSupportImportedException, InvalidTopicNameException, InvalidQosOverridesError: see there.
        """
        type_name = check_is_interface(msg_type, ("msg",))
        full = self.resolve_topic_name(topic)
        validate_full_topic_name(full)
        group = callback_group or self._default_callback_group
        profile = self._rclpy_profile(Subscription, full, qos_profile, qos_overriding_options)
        subscription: Subscription[Any] = Subscription(
            self._rclpy_as_node(), msg_type, full, callback, group, profile, raw, type_name
        )
        self._rclpy_add(subscription)
        callbacks = event_callbacks or SubscriptionEventCallbacks()
        subscription.event_handlers += callbacks.create_event_handlers(group, subscription.handle, full)
        if event_callbacks is not None and event_callbacks.matched is not None:
            place = (PUBLISHER, full, type_name)
            graph = self._context.session.graph
            self._rclpy_attach(subscription, MatchedEvents(event_callbacks.matched, group, graph, place))
        if event_callbacks is not None and event_callbacks.message_lost is not None:
            subscription.lost_events = LostEvents(event_callbacks.message_lost, group)
            self._rclpy_attach(subscription, subscription.lost_events)
        return subscription

    def _rclpy_service(self, srv_type: Any, srv_name: str) -> tuple[str, str]:
        """Return the name of a service's type, and the service's full name."""
        type_name = check_is_interface(srv_type, ("srv",))
        full = self.resolve_service_name(srv_name)
        validate_full_topic_name(full, is_service=True)
        return type_name, full

    def create_client(
        self,
        srv_type: Any,
        srv_name: str,
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
        query_timeout: float = QUERY_TIMEOUT_S,
    ) -> Client:
        """Make a client; `query_timeout` [s] is when an unanswered call is forgotten by the network.

        Raises:
            NoTypeSupportImportedException, InvalidServiceNameException: see there.
        """
        type_name, full = self._rclpy_service(srv_type, srv_name)
        group = callback_group or self._default_callback_group
        client = Client(self._rclpy_as_node(), srv_type, full, qos_profile, group, type_name, query_timeout)
        self._rclpy_add(client)
        return client

    def create_service(
        self,
        srv_type: Any,
        srv_name: str,
        callback: Callable[[Any, Any], Any],
        *,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
    ) -> Service:
        """Make a service.

        Raises:
            NoTypeSupportImportedException, InvalidServiceNameException: see there.
        """
        type_name, full = self._rclpy_service(srv_type, srv_name)
        group = callback_group or self._default_callback_group
        service = Service(self._rclpy_as_node(), srv_type, full, callback, group, qos_profile, type_name)
        self._rclpy_add(service)
        return service

    def create_timer(
        self,
        timer_period_sec: float,
        callback: Callable[..., Any] | None,
        callback_group: CallbackGroup | None = None,
        clock: Clock | None = None,
        autostart: bool = True,
    ) -> Timer:
        """Make a timer with a period in seconds of a clock (None: the node's).

        Raises:
            TypeError, ValueError: the period is no number, or negative.
        """
        group = callback_group or self._default_callback_group
        period = int(float(timer_period_sec) * 1_000_000_000)
        timer = Timer(callback, group, period, clock or self._clock, autostart=autostart)
        self._rclpy_add(timer)
        return timer

    def create_guard_condition(
        self, callback: Callable[[], Any], callback_group: CallbackGroup | None = None
    ) -> GuardCondition:
        """Make a guard condition."""
        guard = GuardCondition(callback, callback_group or self._default_callback_group)
        self._rclpy_add(guard)
        return guard

    def create_rate(self, frequency: float, clock: Clock | None = None) -> Rate:
        """Make a rate of `frequency` [Hz].

        Raises:
            TypeError, ValueError: no number, or not positive.
        """
        if float(frequency) <= 0:
            raise ValueError("frequency must be > 0")
        timer = Timer(None, None, int(1_000_000_000 / float(frequency)), clock or self._clock)
        self._rclpy_add(timer)
        return Rate(timer, context=self._context)

    def destroy_publisher(self, publisher: Publisher[Any]) -> bool:
        """Destroy a publisher of this node; False when it is none."""
        return self._rclpy_remove(publisher)

    def destroy_subscription(self, subscription: Subscription[Any]) -> bool:
        """Destroy a subscription of this node; False when it is none."""
        return self._rclpy_remove(subscription)

    def destroy_client(self, client: Client | ActionClient) -> bool:
        """Destroy a client of this node, an action client too; False when it is none."""
        from rclpy.action import ActionClient

        if isinstance(client, ActionClient):
            return client._destroy_of(self._rclpy_as_node())
        return self._rclpy_remove(client)

    def destroy_service(self, service: Service) -> bool:
        """Destroy a service of this node; False when it is none."""
        return self._rclpy_remove(service)

    def destroy_timer(self, timer: Timer) -> bool:
        """Destroy a timer of this node; False when it is none."""
        return self._rclpy_remove(timer)

    def destroy_guard_condition(self, guard: GuardCondition) -> bool:
        """Destroy a guard condition of this node; False when it is none."""
        return self._rclpy_remove(guard)

    def destroy_rate(self, rate: Rate) -> bool:
        """Destroy a rate; False when that happened already."""
        existed = not rate._destroyed
        rate.destroy()
        self._rclpy_forget(rate._timer)
        return existed
