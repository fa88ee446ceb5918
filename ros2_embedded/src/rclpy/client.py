"""Clients: the asking side of services."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

import zenoh
from service_msgs.msg import ServiceEventInfo

from rclpy.callback_groups import CallbackGroup
from rclpy.endpoint import Endpoint
from rclpy.entity import Entity
from rclpy.impl.blocking import wait_until_done
from rclpy.impl.errors import RCLError
from rclpy.impl.handles import ClientHandle
from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile
from rclpy.service_introspection import ServiceEvents, ServiceIntrospectionState
from rclpy.task import Future
from ros2_embedded.rosidl.classes import deserialize, serialize
from ros2_embedded.session import direct
from ros2_embedded.wire.keys import encode_attachment
from ros2_embedded.wire.tokens import CLIENT, SERVICE

if TYPE_CHECKING:
    from rclpy.clock import Clock
    from rclpy.node import Node

# Longest wait of a query [s]. A call has no deadline in ROS; Zenoh needs one, so that lost queries end
# some day.
QUERY_TIMEOUT_S = 600.0
UNLIMITED_TIMEOUT_S = 10 * 365 * 86400.0


class Client(Entity):
    """Calls a service; make it with `Node.create_client`."""

    _handle_type = ClientHandle
    _turn = 3

    def __init__(
        self,
        node: Node,
        srv_type: Any,
        srv_name: str,
        qos_profile: QoSProfile,
        callback_group: CallbackGroup | None,
        type_name: str,
        query_timeout: float = QUERY_TIMEOUT_S,
    ) -> None:
        """Declare and announce the client; `srv_name` is fully qualified, `query_timeout` in seconds."""
        super().__init__(callback_group)
        self.srv_type, self.srv_name, self.qos_profile = srv_type, srv_name, qos_profile
        self._type_name = type_name
        self._node = node
        self._notify = node._rclpy_wake
        self._lock = RLock()  # a signal may interrupt who holds it
        self._sequence = 0
        self._logger_name = node.get_logger().name
        self._pending: dict[int, Future[Any]] = {}
        self._events = ServiceEvents(node, srv_type, srv_name)
        self._replies: deque[tuple[int, bytes]] = deque()
        self._endpoint = Endpoint(node, CLIENT, srv_name, type_name, qos_profile.to_wire())
        self._querier = node.context.session.zenoh.declare_querier(
            self._endpoint.key,
            target=zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=query_timeout,
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

    def call(self, request: Any, timeout_sec: float | None = None) -> Any:
        """Call and block until the answer; another thread must spin the node.

        Returns:
            The response, or None after the timeout [s] or when the context is shut down.

        Raises:
            TypeError: another type than the service's request.
        """
        future = self.call_async(request)
        if not wait_until_done(future, self._node.context, timeout_sec):
            self.remove_pending_request(future)
            return None
        return future.result()

    def call_async(self, request: Any) -> Future[Any]:
        """Call and return the future response.

        Raises:
            TypeError: another type than the service's request.
            RCLError: the context was shut down.
        """
        return self._send(request)[1]

    def _send(self, request: Any) -> tuple[int, Future[Any]]:
        """As `call_async`, with the number of the call before its future."""
        self._check_alive()
        if not isinstance(request, self.srv_type.Request):
            raise TypeError(f"Expected {self.srv_type.Request}, got {type(request)}")
        payload = serialize(request)
        future: Future[Any] = Future(executor=self._node.executor)
        with self._lock:
            self._sequence += 1
            sequence = self._sequence
            self._pending[sequence] = future
        future._add_waker(lambda _: self._take_pending(sequence))

        is_answered = False

        def on_reply(reply: zenoh.Reply) -> None:
            nonlocal is_answered
            sample = reply.ok
            if sample is not None and not is_answered:  # a server may send any number
                is_answered = True
                self._replies.append((sequence, sample.payload.to_bytes()))
                self.notify()

        attachment = encode_attachment(sequence, time.time_ns(), self._endpoint.gid)
        try:
            self._querier.get(direct(on_reply), payload=payload, attachment=attachment)
        except zenoh.ZError as error:
            self._take_pending(sequence)
            self._check_alive()  # another thread may have destroyed it meanwhile
            raise RCLError(f"cannot call {self.srv_name}: {error}") from error
        self._events.tell(ServiceEventInfo.REQUEST_SENT, request, sequence, self._endpoint.gid)
        return sequence, future

    def is_pending(self) -> bool:
        """True when answers wait."""
        return bool(self._replies)

    def take(self) -> Callable[[], Any] | None:
        """Finish one future."""
        try:
            sequence, data = self._replies.popleft()
        except IndexError:
            return None
        future = self._take_pending(sequence)
        if future is None:  # a second server answered too, or nobody waits any more
            return None
        return lambda: self._finish(future, sequence, data)

    def _take_response(self) -> tuple[int, Any] | None:
        """The oldest answer that waits, with the number of its call, for those who have no future."""
        while self._replies:
            sequence, data = self._replies.popleft()
            if self._take_pending(sequence) is not None:
                return sequence, deserialize(data, self.srv_type.Response)
        return None

    def _take_pending(self, sequence: int) -> Future[Any] | None:
        """The call of a number, which is pending no more; None when it was not."""
        with self._lock:
            return self._pending.pop(sequence, None)

    def _finish(self, future: Future[Any], sequence: int, data: bytes) -> None:
        future._set_executor(self._node.executor)
        try:
            response = deserialize(data, self.srv_type.Response)
        except ValueError as error:
            future.set_exception(error)
            return
        self._events.tell(ServiceEventInfo.RESPONSE_RECEIVED, response, sequence, self._endpoint.gid)
        future.set_result(response)

    def configure_introspection(
        self,
        clock: Clock,
        service_event_qos_profile: QoSProfile,
        introspection_state: ServiceIntrospectionState,
    ) -> None:
        """Publish what happens here on `<service>/_service_event`; see `rclpy.service_introspection`."""
        self._events.configure(clock, service_event_qos_profile, introspection_state)

    def get_pending_request(self, sequence_number: int) -> Future[Any]:
        """The future of a call that is not answered yet.

        Raises:
            KeyError: no such call.
        """
        with self._lock:
            return self._pending[sequence_number]

    def remove_pending_request(self, future: Future[Any]) -> None:
        """Forget a call; its future never finishes."""
        with self._lock:
            self._pending = {key: known for key, known in self._pending.items() if known is not future}

    def service_is_ready(self) -> bool:
        """True when a server of this name and type is in the graph."""
        self._check_alive()
        return self._find_server()

    def _find_server(self) -> bool:
        graph = self._endpoint.session.graph
        return any(r.type_name == self._type_name for r in graph.endpoints((SERVICE,), self.srv_name))

    def wait_for_service(self, timeout_sec: float | None = None) -> bool:
        """Block until a server is in the graph, for at most `timeout_sec` [s]; returns whether it is."""
        self._check_alive()
        context = self._node.context
        timeout = None if timeout_sec is None or timeout_sec < 0 else timeout_sec
        context.session.graph.wait_for(lambda: self._find_server() or not context.ok(), timeout)
        return context.ok() and self._find_server()

    def destroy(self) -> None:
        """Undeclare the client; calls under way never finish."""
        if not self._destroyed:
            super().destroy()
            self._events.close()
            self._endpoint.withdraw()
            if not self._endpoint.session.zenoh.is_closed():
                self._querier.undeclare()


pass_on(__name__)
