"""Publishers."""

from __future__ import annotations

import time
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import zenoh
import zenoh.ext

from rclpy.endpoint import Endpoint
from rclpy.entity import Entity
from rclpy.impl.errors import RCLError
from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile
from ros2_embedded.rosidl.classes import serialize
from ros2_embedded.rosidl.intra_process import Shared, serialize_without, shareable
from ros2_embedded.shared_memory import LEAST_BYTES
from ros2_embedded.wire.keys import encode_attachment
from ros2_embedded.wire.qos_text import KEEP_ALL, RELIABLE, TRANSIENT_LOCAL, WireQoS
from ros2_embedded.wire.tokens import PUBLISHER, SUBSCRIPTION

if TYPE_CHECKING:
    from rclpy.duration import Duration
    from rclpy.node import Node

MsgT = TypeVar("MsgT")
_HEARTBEAT_S = 1.0
"""[s] How often a latched publisher says which sample was its last, so that whoever missed it asks for it.
Those of rmw_zenoh say it once after a sample, which is lost with the sample while a link is cut."""
_PICTURES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
"""Types whose best-effort messages wait for all others: one of them may fill the queue of a link."""


def _blocks(qos: WireQoS) -> bool:
    """True when `publish` waits for the network rather than drop."""
    return qos.reliability == RELIABLE and qos.history == KEEP_ALL


def _declare(session: zenoh.Session, key: str, type_name: str, qos: WireQoS) -> Any:
    """The Zenoh publisher of a profile, set up as rmw_zenoh does.

    Without a cache an advanced publisher is a plain one. What is not latched reaches subscriptions of this
    session without Zenoh, see `RosSession.listen`.
    """
    reliable = qos.reliability == RELIABLE
    options: dict[str, Any] = {
        "congestion_control": zenoh.CongestionControl.BLOCK if _blocks(qos) else zenoh.CongestionControl.DROP,
        "reliability": zenoh.Reliability.RELIABLE if reliable else zenoh.Reliability.BEST_EFFORT,
    }
    if not reliable and type_name in _PICTURES:
        options["priority"] = zenoh.Priority.DATA_LOW
    if qos.durability != TRANSIENT_LOCAL:
        return session.declare_publisher(key, allowed_destination=zenoh.Locality.REMOTE, **options)
    if reliable:
        options["sample_miss_detection"] = zenoh.ext.MissDetectionConfig(
            heartbeat=_HEARTBEAT_S, sporadic_heartbeat=None
        )
    cache = zenoh.ext.CacheConfig(max_samples=qos.depth)
    return zenoh.ext.declare_advanced_publisher(
        session, key, cache=cache, publisher_detection=True, **options
    )


class Publisher(Entity, Generic[MsgT]):
    """Sends messages of one type to one topic; make it with `Node.create_publisher`."""

    def __init__(
        self, node: Node, msg_type: type[MsgT], topic: str, qos_profile: QoSProfile, type_name: str
    ) -> None:
        """Declare and announce the publisher; `topic` is fully qualified."""
        super().__init__(None)
        self.msg_type, self.topic, self.qos_profile = msg_type, topic, qos_profile
        self._logger_name = node.get_logger().name
        wire = qos_profile.to_wire()
        self._endpoint = Endpoint(node, PUBLISHER, topic, type_name, wire)
        self._publisher = _declare(node.context.session.zenoh, self._endpoint.key, type_name, wire)
        self._is_latched = wire.durability == TRANSIENT_LOCAL
        self._waits = _blocks(wire)
        self._sequence = 0
        self._lock = RLock()  # a signal may interrupt who holds it
        self._endpoint.announce()

    @property
    def topic_name(self) -> str:
        """The fully qualified topic."""
        return self.topic

    def is_pending(self) -> bool:
        """A publisher has no callbacks."""
        return False

    def publish(self, msg: MsgT | bytes) -> None:
        """Send a message, or its CDR bytes.

        Raises:
            TypeError: another type than the publisher's.
            InvalidHandle: the publisher was destroyed.
            RCLError: the context was shut down.
            SerializationError: a field holds a value its type does not allow.
        """
        if self._destroyed:
            self._check_alive()
        shared: Shared = {}
        listeners = () if self._is_latched else self._endpoint.session.listeners(self._endpoint.key)
        if isinstance(msg, self.msg_type):
            message: Any = msg
            shared = shareable(message) if listeners else {}
            payload: Any = None if shared and not self._is_heard() else serialize(message)
        elif isinstance(msg, (bytes, bytearray)):
            payload = msg
        else:
            raise TypeError(f"Expected {self.msg_type}, got {type(msg)}")
        local = serialize_without(message, shared) if shared else payload
        with self._lock:  # sequence numbers must leave in order
            self._sequence += 1
            attachment = encode_attachment(self._sequence, time.time_ns(), self._endpoint.gid)
            for listener in listeners:
                listener(local, attachment, shared)
            if payload is not None:
                self._put(payload, attachment)

    def _put(self, payload: Any, attachment: bytes) -> None:
        """Hand CDR bytes to the network."""
        try:
            if len(payload) >= LEAST_BYTES and not self._is_latched and self._is_heard():
                payload = self._endpoint.session.shared_memory.place(payload, self._waits)
            self._publisher.put(payload, attachment=attachment)
        except zenoh.ZError as error:
            self._check_alive()  # another thread may have destroyed it meanwhile
            raise RCLError(f"cannot publish on {self.topic}: {error}") from error

    def _is_heard(self) -> bool:
        """True when another session subscribes; asked of publishers that are not latched only."""
        return bool(self._publisher.matching_status.matching)

    def get_subscription_count(self) -> int:
        """The number of subscriptions of this topic and type in the graph."""
        self._check_alive()
        graph = self._endpoint.session.graph
        return sum(
            record.type_name == self._type_name for record in graph.endpoints((SUBSCRIPTION,), self.topic)
        )

    @property
    def _type_name(self) -> str:
        return str(self.msg_type._TYPE_NAME)  # type: ignore[attr-defined]

    def assert_liveliness(self) -> None:
        """Nothing to do: liveliness tokens say it."""
        self._check_alive()

    def wait_for_all_acked(self, timeout: Duration | None = None) -> bool:
        """True: a put hands the message to the network before it returns, there are no acknowledgements."""
        self._check_alive()
        return True

    @property
    def logger_name(self) -> str:
        """The name of the node's logger."""
        return self._logger_name

    def destroy(self) -> None:
        """Undeclare the publisher."""
        if not self._destroyed:
            super().destroy()
            self._endpoint.withdraw()
            if not self._endpoint.session.zenoh.is_closed():
                self._publisher.undeclare()


pass_on(__name__)
