"""Services: the answering side."""

from __future__ import annotations

import inspect
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any

import zenoh
from service_msgs.msg import ServiceEventInfo

from rclpy.callback_groups import CallbackGroup
from rclpy.dropped import DropCounter
from rclpy.endpoint import Endpoint
from rclpy.entity import Entity
from rclpy.impl.handles import ServiceHandle
from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile
from rclpy.service_introspection import ServiceEvents, ServiceIntrospectionState
from ros2_embedded.rosidl.classes import deserialize, serialize
from ros2_embedded.session import direct
from ros2_embedded.wire.keys import Attachment, encode_attachment
from ros2_embedded.wire.tokens import SERVICE

if TYPE_CHECKING:
    from rclpy.clock import Clock
    from rclpy.node import Node


MOST_REQUESTS = 1000
"""Requests that wait for their callback; further ones push out the oldest, which gets no answer."""
MOST_BYTES = 64 << 20
"""Bytes of all of them together, unless one alone has more."""


@dataclass
class RequestHeader:
    """Identifies a request: needed to answer it, at any time and from any thread."""

    query: zenoh.Query
    attachment: Attachment

    @property
    def source_timestamp(self) -> int:
        """When the request was sent [ns since the epoch]."""
        return self.attachment.stamp


class Service(Entity):
    """Answers requests; make it with `Node.create_service`."""

    _handle_type = ServiceHandle
    _turn = 4

    def __init__(
        self,
        node: Node,
        srv_type: Any,
        srv_name: str,
        callback: Callable[[Any, Any], Any],
        callback_group: CallbackGroup | None,
        qos_profile: QoSProfile,
        type_name: str,
    ) -> None:
        """Declare and announce the service; `srv_name` is fully qualified."""
        super().__init__(callback_group)
        self.srv_type, self.srv_name, self.callback, self.qos_profile = (
            srv_type,
            srv_name,
            callback,
            qos_profile,
        )
        self._logger_name = node.get_logger().name
        self._queue: deque[tuple[zenoh.Query, int]] = deque()  # with the size of each [bytes]
        self._bytes, self._lock = 0, RLock()  # a signal may interrupt who holds it
        self._notify = node._rclpy_wake
        self._dropped = DropCounter(node.get_logger(), f"request to {srv_name}")
        self._events = ServiceEvents(node, srv_type, srv_name)
        self.on_response_sent: Callable[[Any], None] | None = None
        self._endpoint = Endpoint(node, SERVICE, srv_name, type_name, qos_profile.to_wire())
        self._queryable = node.context.session.zenoh.declare_queryable(
            self._endpoint.key, direct(self._on_query), complete=True
        )
        self._endpoint.announce()

    @property
    def logger_name(self) -> str:
        """The name of the node's logger."""
        return self._logger_name

    @property
    def service_name(self) -> str:
        """The fully qualified name."""
        return self.srv_name

    @property
    def dropped_count(self) -> int:
        """How many requests could not be understood or waited too long; the first is logged. Not part of
        rclpy.
        """
        return self._dropped.count

    def _on_query(self, query: zenoh.Query) -> None:
        """Queue a request; runs in a thread of Zenoh."""
        payload = query.payload
        size = 0 if payload is None else len(payload)
        pushed_out = []
        with self._lock:
            self._queue.append((query, size))
            self._bytes += size
            while len(self._queue) > MOST_REQUESTS or (self._bytes > MOST_BYTES and len(self._queue) > 1):
                pushed_out.append(self._pop())
        for one in pushed_out:
            self._dropped.note(
                f"more than {MOST_REQUESTS}, or {MOST_BYTES >> 20} MB, wait for their callback"
            )
            one.drop()
        self.notify()

    def _pop(self) -> zenoh.Query:
        """The oldest query; raises IndexError without one. The lock is held."""
        query, size = self._queue.popleft()
        self._bytes -= size
        return query

    def is_pending(self) -> bool:
        """True when requests wait."""
        return bool(self._queue)

    def take_request(self) -> tuple[Any, RequestHeader] | None:
        """The oldest request that waits, or None."""
        try:
            with self._lock:
                query = self._pop()
        except IndexError:
            return None
        try:
            attachment, payload = query.attachment, query.payload
            if attachment is None or payload is None:
                raise ValueError("request without attachment or payload")
            header = RequestHeader(query, Attachment.decode(attachment.to_bytes()))
            request = deserialize(payload.to_bytes(), self.srv_type.Request)
        except ValueError as error:  # a peer's bad request must not end this node
            self._dropped.note(error)
            query.drop()
            return None
        self._events.tell(
            ServiceEventInfo.REQUEST_RECEIVED, request, header.attachment.sequence, header.attachment.gid
        )
        return request, header

    def take(self) -> Callable[[], Any] | None:
        """One request's callback, followed by its answer."""
        taken = self.take_request()
        if taken is None:
            return None
        request, header = taken

        async def finish(result: Any) -> None:
            self.send_response(await result, header)

        def call() -> Any:
            result = self.callback(request, self.srv_type.Response())
            if inspect.isawaitable(result):
                return finish(result)
            self.send_response(result, header)
            return None

        return call

    def send_response(self, response: Any, header: RequestHeader) -> None:
        """Answer a request.

        Raises:
            TypeError: another type than the service's response.
        """
        if not isinstance(response, self.srv_type.Response):
            header.query.drop()
            raise TypeError(
                f"callback of {self.srv_name} must return {self.srv_type.Response}, got {type(response)}"
            )
        if self._destroyed or self._endpoint.session.zenoh.is_closed():
            return
        # The reply carries the sequence number and the GID of the request.
        sequence, gid = header.attachment.sequence, header.attachment.gid
        attachment = encode_attachment(sequence, time.time_ns(), gid)
        data = serialize(response)
        try:
            header.query.reply(self._endpoint.key, data, attachment=attachment)
        except zenoh.ZError:
            if self._endpoint.session.zenoh.is_closed():  # meanwhile: nobody waits any more
                return
            raise
        header.query.drop()
        self._events.tell(ServiceEventInfo.RESPONSE_SENT, response, sequence, gid)
        if self.on_response_sent is not None:
            self.on_response_sent(response)

    def configure_introspection(
        self,
        clock: Clock,
        service_event_qos_profile: QoSProfile,
        introspection_state: ServiceIntrospectionState,
    ) -> None:
        """Publish what happens here on `<service>/_service_event`; see `rclpy.service_introspection`."""
        self._events.configure(clock, service_event_qos_profile, introspection_state)

    def destroy(self) -> None:
        """Undeclare the service; requests that wait get no answer."""
        if not self._destroyed:
            super().destroy()
            self._events.close()
            self._endpoint.withdraw()
            if not self._endpoint.session.zenoh.is_closed():
                self._queryable.undeclare()
            with self._lock:
                left = [self._pop() for _ in range(len(self._queue))]
            for query in left:
                query.drop()


pass_on(__name__)
