"""Events of publishers and subscriptions.

As with `rmw_zenoh_cpp` there are two kinds: the number of matching endpoints changed, and messages were lost.
The callbacks of the other kinds (deadline, liveliness, incompatibility) are accepted and never called; their
info classes are here for annotations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from rclpy.callback_groups import CallbackGroup
from rclpy.entity import Entity
from rclpy.impl.errors import UnsupportedEventTypeError
from rclpy.passed_on import pass_on
from rclpy.qos import QoSPolicyKind
from rclpy.waitable import NumberOfEntities, Waitable, WaitSet
from ros2_embedded.wire.keys import Attachment

if TYPE_CHECKING:
    from ros2_embedded.graph import GraphCache

__all__ = [
    "EventHandler",
    "MatchedInfo",
    "MessageLostInfo",
    "PublisherEventCallbacks",
    "QoSEventHandler",
    "QoSLivelinessChangedInfo",
    "QoSLivelinessLostInfo",
    "QoSMessageLostInfo",
    "QoSOfferedDeadlineMissedInfo",
    "QoSOfferedIncompatibleQoSInfo",
    "QoSPublisherEventType",
    "QoSPublisherMatchedInfo",
    "QoSRequestedDeadlineMissedInfo",
    "QoSRequestedIncompatibleQoSInfo",
    "QoSSubscriptionEventType",
    "QoSSubscriptionMatchedInfo",
    "SubscriptionEventCallbacks",
    "UnsupportedEventTypeError",
]
_Callback: TypeAlias = "Callable[[Any], None] | None"


@dataclass(frozen=True)
class MatchedInfo:
    """How many endpoints of the other side match: ever and now, and what changed since the last event."""

    total_count: int
    total_count_change: int
    current_count: int
    current_count_change: int


@dataclass(frozen=True)
class MessageLostInfo:
    """How many messages never came: ever, and since the last event."""

    total_count: int
    total_count_change: int


@dataclass(frozen=True)
class DeadlineMissedInfo:
    """How many deadlines were missed: ever, and since the last event."""

    total_count: int = 0
    total_count_change: int = 0


@dataclass(frozen=True)
class LivelinessChangedInfo:
    """How many publishers are alive and how many are not, and what changed since the last event."""

    alive_count: int = 0
    not_alive_count: int = 0
    alive_count_change: int = 0
    not_alive_count_change: int = 0


@dataclass(frozen=True)
class IncompatibleQoSInfo:
    """How many endpoints did not match, and the policy that was the reason for the last one."""

    total_count: int = 0
    total_count_change: int = 0
    last_policy_kind: QoSPolicyKind = QoSPolicyKind.INVALID


QoSOfferedDeadlineMissedInfo = QoSRequestedDeadlineMissedInfo = QoSLivelinessLostInfo = DeadlineMissedInfo
QoSLivelinessChangedInfo = LivelinessChangedInfo
QoSOfferedIncompatibleQoSInfo = QoSRequestedIncompatibleQoSInfo = IncompatibleQoSInfo
QoSPublisherMatchedInfo = MatchedInfo
QoSSubscriptionMatchedInfo = MatchedInfo
QoSMessageLostInfo = MessageLostInfo


class QoSPublisherEventType(IntEnum):
    """The kinds of events of a publisher, with the numbers of rcl."""

    RCL_PUBLISHER_OFFERED_DEADLINE_MISSED = 0
    RCL_PUBLISHER_LIVELINESS_LOST = 1
    RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS = 2
    RCL_PUBLISHER_INCOMPATIBLE_TYPE = 3
    RCL_PUBLISHER_MATCHED = 4


class QoSSubscriptionEventType(IntEnum):
    """The kinds of events of a subscription, with the numbers of rcl."""

    RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED = 0
    RCL_SUBSCRIPTION_LIVELINESS_CHANGED = 1
    RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS = 2
    RCL_SUBSCRIPTION_MESSAGE_LOST = 3
    RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE = 4
    RCL_SUBSCRIPTION_MATCHED = 5


_INFO_OF_NONE: dict[IntEnum, Any] = {
    QoSPublisherEventType.RCL_PUBLISHER_OFFERED_DEADLINE_MISSED: DeadlineMissedInfo(),
    QoSPublisherEventType.RCL_PUBLISHER_LIVELINESS_LOST: DeadlineMissedInfo(),
    QoSPublisherEventType.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS: IncompatibleQoSInfo(),
    QoSPublisherEventType.RCL_PUBLISHER_MATCHED: MatchedInfo(0, 0, 0, 0),
}
_INFO_OF_NO_MESSAGES: dict[IntEnum, Any] = {
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED: DeadlineMissedInfo(),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_LIVELINESS_CHANGED: LivelinessChangedInfo(),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS: IncompatibleQoSInfo(),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_MESSAGE_LOST: MessageLostInfo(0, 0),
    QoSSubscriptionEventType.RCL_SUBSCRIPTION_MATCHED: MatchedInfo(0, 0, 0, 0),
}


def no_event(event_type: IntEnum) -> Any:
    """Return what the info of a kind of event is before there was one.

    Raises:
        UnsupportedEventTypeError: a kind that there is not here.
    """
    is_publisher = isinstance(event_type, QoSPublisherEventType)
    try:
        return (_INFO_OF_NONE if is_publisher else _INFO_OF_NO_MESSAGES)[event_type]
    except KeyError:
        raise UnsupportedEventTypeError(f"there are no events of the kind {event_type!r}") from None


class EventHandler(Waitable):
    """Stands for a kind of event that never comes."""

    def __init__(
        self,
        *,
        callback_group: CallbackGroup,
        callback: Callable[[Any], Any],
        event_type: IntEnum,
        parent_impl: Any,
    ) -> None:
        """Keep the arguments."""
        super().__init__(callback_group)
        self.callback, self.event_type, self.parent_impl = callback, event_type, parent_impl

    def is_ready(self, wait_set: WaitSet) -> bool:
        """Never: the middleware has no such events."""
        return False

    def get_num_entities(self) -> NumberOfEntities:
        """One event."""
        return NumberOfEntities(num_events=1)

    def add_to_wait_set(self, wait_set: WaitSet) -> None:
        """Nothing to wait for."""


class QoSEventHandler(EventHandler):
    """The former name of `EventHandler`."""


class MatchedEvents(Entity):
    """Watches the graph for endpoints of one kind, topic and type."""

    def __init__(
        self,
        callback: Callable[[MatchedInfo], Any],
        callback_group: CallbackGroup,
        graph: GraphCache,
        place: tuple[str, str, str],
    ) -> None:
        """Start watching; `place` is the kind of endpoint, the topic and the type."""
        super().__init__(callback_group)
        self._callback, self._graph, self._place = callback, graph, place
        self._lock = RLock()  # a signal may interrupt who holds it, and look at the graph itself
        self._known: set[bytes] = set()
        self._total = self._reported_total = self._reported = 0
        graph.add_listener(self._look)
        self._look()

    def _look(self) -> None:
        """Compare the graph with what was there."""
        kind, topic, type_name = self._place
        with self._lock:  # whoever looks later must see the same or more
            found = {r.gid for r in self._graph.endpoints((kind,), topic) if r.type_name == type_name}
            self._total += len(found - self._known)
            changed = found != self._known
            self._known = found
        if changed:
            self.notify()

    def is_pending(self) -> bool:
        """True when something changed since the last event."""
        return self._total != self._reported_total or len(self._known) != self._reported

    def take(self) -> Callable[[], Any] | None:
        """The callback with its info."""
        with self._lock:
            if not self.is_pending():
                return None
            now = len(self._known)
            info = MatchedInfo(self._total, self._total - self._reported_total, now, now - self._reported)
            self._reported_total, self._reported = self._total, now
        return lambda: self._callback(info)

    def destroy(self) -> None:
        """Stop watching."""
        super().destroy()
        self._graph.remove_listener(self._look)


class LostEvents(Entity):
    """Watches the sequence numbers of each publisher for gaps."""

    def __init__(self, callback: Callable[[MessageLostInfo], Any], callback_group: CallbackGroup) -> None:
        """Start with nothing seen."""
        super().__init__(callback_group)
        self._callback = callback
        self._last: dict[bytes, int] = {}
        self._total = self._reported = 0

    def saw(self, attachment: bytes) -> None:
        """A sample came; called in the order of arrival."""
        try:
            header = Attachment.decode(attachment)
        except ValueError:  # the subscription counts it as bad
            return
        last = self._last.get(header.gid)
        if last is not None and header.sequence > last + 1:
            self._total += header.sequence - last - 1
            self.notify()
        self._last[header.gid] = max(header.sequence, last or 0)

    def is_pending(self) -> bool:
        """True when messages were lost since the last event."""
        return self._total != self._reported

    def take(self) -> Callable[[], Any] | None:
        """The callback with its info."""
        total, change = self._total, self._total - self._reported
        if not change:
            return None
        self._reported = total
        return lambda: self._callback(MessageLostInfo(total, change))


@dataclass
class SubscriptionEventCallbacks:
    """The event callbacks a subscription may be given."""

    deadline: _Callback = None
    incompatible_qos: _Callback = None
    incompatible_type: _Callback = None
    liveliness: _Callback = None
    matched: _Callback = None
    message_lost: _Callback = None
    use_default_callbacks: bool = True

    def create_event_handlers(
        self, callback_group: CallbackGroup, subscription: Any, topic_name: str
    ) -> list[EventHandler]:
        """Return handlers for the kinds that never come; the others are watched by the node."""
        kinds = QoSSubscriptionEventType
        return _handlers(
            callback_group,
            subscription,
            {
                kinds.RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED: self.deadline,
                kinds.RCL_SUBSCRIPTION_LIVELINESS_CHANGED: self.liveliness,
                kinds.RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS: self.incompatible_qos
                or (_no_callback if self.use_default_callbacks else None),
                kinds.RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE: self.incompatible_type,
            },
        )


@dataclass
class PublisherEventCallbacks:
    """The event callbacks a publisher may be given."""

    deadline: _Callback = None
    incompatible_qos: _Callback = None
    incompatible_type: _Callback = None
    liveliness: _Callback = None
    matched: _Callback = None
    use_default_callbacks: bool = True

    def create_event_handlers(
        self, callback_group: CallbackGroup, publisher: Any, topic_name: str
    ) -> list[EventHandler]:
        """Return handlers for the kinds that never come; the others are watched by the node."""
        kinds = QoSPublisherEventType
        return _handlers(
            callback_group,
            publisher,
            {
                kinds.RCL_PUBLISHER_OFFERED_DEADLINE_MISSED: self.deadline,
                kinds.RCL_PUBLISHER_LIVELINESS_LOST: self.liveliness,
                kinds.RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS: self.incompatible_qos
                or (_no_callback if self.use_default_callbacks else None),
                kinds.RCL_PUBLISHER_INCOMPATIBLE_TYPE: self.incompatible_type,
            },
        )


def _handlers(group: CallbackGroup, parent: Any, callbacks: dict[Any, _Callback]) -> list[EventHandler]:
    return [
        EventHandler(callback_group=group, callback=callback, event_type=kind, parent_impl=parent)
        for kind, callback in callbacks.items()
        if callback is not None
    ]


def _no_callback(info: Any) -> None:
    """What rclpy would log here does not happen: every profile matches."""


pass_on(__name__)
