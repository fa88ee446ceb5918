"""Publishes what happens at a service or a client on `<service>/_service_event` (REP 2012)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from rclpy.clock import Clock
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from rclpy.node import Node

EVENT_TOPIC_POSTFIX = "/_service_event"


class ServiceIntrospectionState(IntEnum):
    """How much is told: nothing, who and when, or the messages too."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2


class ServiceEvents:
    """The event publisher of one service or client; quiet until it is configured."""

    def __init__(self, node: Node, srv_type: Any, name: str) -> None:
        """Remember what to tell about; `name` is the fully qualified service."""
        self._node, self._type, self._name = node, srv_type, name
        self._state = ServiceIntrospectionState.OFF
        self._publisher: Publisher[Any] | None = None
        self._clock: Clock | None = None

    def configure(self, clock: Clock, qos_profile: QoSProfile, state: ServiceIntrospectionState) -> None:
        """Set what is told, with which clock, and the profile of the topic."""
        self.close()
        self._state, self._clock = ServiceIntrospectionState(state), clock
        if self._state is not ServiceIntrospectionState.OFF:
            topic = self._name + EVENT_TOPIC_POSTFIX
            self._publisher = self._node.create_publisher(self._type.Event, topic, qos_profile)

    def tell(self, event_type: int, message: Any, sequence: int, client_gid: bytes) -> None:
        """Publish an event.

        Args:
            event_type: constant of `service_msgs/msg/ServiceEventInfo`.
            message: the request or the response.
            sequence: number of the request at its client.
            client_gid: 16 bytes.
        """
        if self._publisher is None or self._clock is None:
            return
        event = self._type.Event()
        event.info.event_type = event_type
        event.info.stamp = self._clock.now().to_msg()
        event.info.client_gid = np.frombuffer(client_gid, np.uint8)
        event.info.sequence_number = sequence
        if self._state is ServiceIntrospectionState.CONTENTS:
            is_request = isinstance(message, self._type.Request)
            (event.request if is_request else event.response).append(message)
        self._publisher.publish(event)

    def close(self) -> None:
        """Stop telling."""
        publisher, self._publisher = self._publisher, None
        if publisher is not None:
            self._node.destroy_publisher(publisher)
