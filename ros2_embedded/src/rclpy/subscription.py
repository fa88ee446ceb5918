"""Subscriptions."""

from __future__ import annotations

import inspect
import time
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

import zenoh
import zenoh.ext

from rclpy.callback_groups import CallbackGroup
from rclpy.dropped import DropCounter
from rclpy.endpoint import Endpoint
from rclpy.entity import Entity
from rclpy.event_handler import LostEvents
from rclpy.impl.errors import RCLError
from rclpy.impl.handles import SubscriptionHandle
from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile
from rclpy.subscription_content_filter_options import ContentFilterOptions
from ros2_embedded.rosidl.classes import deserialize, serialize
from ros2_embedded.rosidl.intra_process import Shared, restore
from ros2_embedded.session import direct
from ros2_embedded.wire.keys import decode_attachment
from ros2_embedded.wire.qos_text import KEEP_ALL, RELIABLE, TRANSIENT_LOCAL, WireQoS
from ros2_embedded.wire.tokens import PUBLISHER, SUBSCRIPTION

if TYPE_CHECKING:
    from rclpy.node import Node

MsgT = TypeVar("MsgT")


# Messages that may come while an executor lets them gather.
_FLOOD = 64
# Samples that may wait where they lie, which may be the sender's shared memory; further ones are copied out.
_MOST_IN_PLACE = 16


class MessageInfo(TypedDict):
    """What comes with a message; times in nanoseconds since the epoch."""

    source_timestamp: int
    received_timestamp: int
    publication_sequence_number: int
    reception_sequence_number: int | None


def _declare(session: zenoh.Session, key: str, qos: WireQoS, callback: Callable[[Any], None]) -> Any:
    """The Zenoh subscriber of a profile, set up as rmw_zenoh does."""
    if qos.durability != TRANSIENT_LOCAL:
        return session.declare_subscriber(key, direct(callback))
    options: dict[str, Any] = {}
    if qos.reliability == RELIABLE:
        options["recovery"] = zenoh.ext.RecoveryConfig(periodic_queries=None, heartbeat=True)
    return zenoh.ext.declare_advanced_subscriber(
        session,
        key,
        direct(callback),
        history=zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=qos.depth),
        subscriber_detection=True,
        **options,
    )


class Subscription(Entity, Generic[MsgT]):
    """Receives messages of one type from one topic; make it with `Node.create_subscription`."""

    _handle_type = SubscriptionHandle
    _turn = 1

    class CallbackType(Enum):
        """Whether the callback wants the message alone or with its info."""

        MessageOnly = 0
        WithMessageInfo = 1

    def __init__(
        self,
        node: Node,
        msg_type: type[MsgT],
        topic: str,
        callback: Callable[..., Any],
        callback_group: CallbackGroup | None,
        qos_profile: QoSProfile,
        raw: bool,
        type_name: str,
    ) -> None:
        """Declare and announce the subscription; `topic` is fully qualified, `raw` hands over CDR bytes."""
        super().__init__(callback_group)
        self.msg_type, self.topic, self.qos_profile, self.raw = msg_type, topic, qos_profile, raw
        self.callback = callback
        self._logger_name = node.get_logger().name
        wire = qos_profile.to_wire()
        self._queue: deque[tuple[zenoh.ZBytes | bytes | bytearray, bytes, Shared, int]] = deque(
            maxlen=None if wire.history == KEEP_ALL else wire.depth
        )
        self.lost_events: LostEvents | None = None
        self._notify = node._rclpy_wake
        self._endpoint = Endpoint(node, SUBSCRIPTION, topic, type_name, wire)
        self._dropped = DropCounter(node.get_logger(), f"message on {topic}")
        self._subscriber = _declare(node.context.session.zenoh, self._endpoint.key, wire, self._on_sample)
        self._unlisten = self._endpoint.session.listen(self._endpoint.key, self._deliver)
        self._endpoint.announce()

    @property
    def topic_name(self) -> str:
        """The fully qualified topic."""
        return self.topic

    @property
    def callback(self) -> Callable[..., Any]:
        """The user's callback."""
        return self._callback

    @callback.setter
    def callback(self, value: Callable[..., Any]) -> None:
        kind = Subscription.CallbackType.MessageOnly
        try:
            inspect.signature(value).bind(object())
        except ValueError:  # a built-in function does not tell
            pass
        except TypeError:
            try:
                inspect.signature(value).bind(object(), object())
            except TypeError:
                raise RuntimeError(
                    "Subscription.__init__(): callback should be either be callable with one argument "
                    "(to get only the message) or two (to get message and message info)"
                ) from None
            kind = Subscription.CallbackType.WithMessageInfo
        self._callback, self._callback_type = value, kind

    def _on_sample(self, sample: zenoh.Sample) -> None:
        """Queue a sample; runs in a thread of Zenoh, or inside `publish` of a latched topic."""
        attachment = sample.attachment
        if sample.kind != zenoh.SampleKind.PUT:
            return
        if attachment is None:
            self._dropped.note("it has no attachment, so its sender is no ROS node")
            return
        payload = sample.payload
        is_late = len(self._queue) >= _MOST_IN_PLACE
        self._deliver(payload.to_bytes() if is_late else payload, attachment.to_bytes(), {})

    def _deliver(self, payload: zenoh.ZBytes | bytes | bytearray, header: bytes, shared: Shared) -> None:
        """Queue a message; runs inside `publish` of this process too."""
        if self.lost_events is not None:
            self.lost_events.saw(header)
        self._queue.append((payload, header, shared, time.time_ns()))
        self._notify()

    def is_pending(self) -> bool:
        """True when messages wait."""
        return bool(self._queue)

    def can_gather(self) -> bool:
        """True while the queue has room for a flood: it keeps all, or it is long and mostly empty."""
        most = self._queue.maxlen
        return most is None or len(self._queue) + _FLOOD <= most

    def take(self) -> Callable[[], Any] | None:
        """One message's callback."""
        taken = self.take_message()
        if taken is None:
            return None
        message, info = taken
        if self._callback_type is Subscription.CallbackType.WithMessageInfo:
            return lambda: self._callback(message, info)
        return lambda: self._callback(message)

    def take_message(self) -> tuple[Any, MessageInfo] | None:
        """The oldest message that waits and its info, or None; without its callback."""
        try:
            payload, attachment, shared, received = self._queue.popleft()
        except IndexError:
            return None
        try:
            sequence, sent, _ = decode_attachment(attachment)
            data = payload.to_bytes() if isinstance(payload, zenoh.ZBytes) else payload
            message: Any = data if self.raw and not shared else deserialize(data, self.msg_type)
            if shared:
                restore(message, shared)
            if self.raw:
                message = bytes(serialize(message) if shared else data)
        except ValueError as error:  # a peer's bad message must not end this node
            self._dropped.note(error)
            return None
        return message, {
            "source_timestamp": sent,
            "received_timestamp": received,
            "publication_sequence_number": sequence,
            "reception_sequence_number": None,
        }

    @property
    def dropped_count(self) -> int:
        """How many samples could not be understood; the first is logged. Not part of rclpy."""
        return self._dropped.count

    def get_publisher_count(self) -> int:
        """The number of publishers of this topic and type in the graph."""
        self._check_alive()
        wanted = str(self.msg_type._TYPE_NAME)  # type: ignore[attr-defined]
        graph = self._endpoint.session.graph
        return sum(record.type_name == wanted for record in graph.endpoints((PUBLISHER,), self.topic))

    @property
    def logger_name(self) -> str:
        """The name of the node's logger."""
        return self._logger_name

    @property
    def is_cft_enabled(self) -> bool:
        """Whether a content filter is in force: never, as with `rmw_zenoh_cpp`."""
        return False

    def set_content_filter(self, filter_expression: str, expression_parameters: list[str]) -> None:
        """Filter messages by their fields.

        Raises:
            RCLError: Zenoh has no such filters.
        """
        raise RCLError("failed to set a content filter: the middleware has none")

    def get_content_filter(self) -> ContentFilterOptions:
        """Return the content filter.

        Raises:
            RCLError: there is none.
        """
        raise RCLError("failed to get the content filter: the middleware has none")

    def destroy(self) -> None:
        """Undeclare the subscription; queued messages are dropped."""
        if not self._destroyed:
            super().destroy()
            self._unlisten()
            self._endpoint.withdraw()
            if not self._endpoint.session.zenoh.is_closed():
                self._subscriber.undeclare()
            self._queue.clear()


pass_on(__name__)
