"""Action clients."""

from __future__ import annotations

import inspect
import uuid
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from action_msgs.msg import GoalInfo, GoalStatus
from action_msgs.srv import CancelGoal
from unique_identifier_msgs.msg import UUID

from rclpy.callback_groups import CallbackGroup
from rclpy.client import UNLIMITED_TIMEOUT_S
from rclpy.endpoint import check_is_interface
from rclpy.impl.blocking import wait_until_done
from rclpy.passed_on import pass_on
from rclpy.qos import (
    QoSProfile,
    qos_profile_action_status_default,
    qos_profile_default,
    qos_profile_services_default,
)
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities
from ros2_embedded.wire.tokens import PUBLISHER

if TYPE_CHECKING:
    from rclpy.node import Node


_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


class ClientGoalHandle:
    """A goal as its client sees it."""

    def __init__(self, action_client: ActionClient, goal_id: Any, goal_response: Any) -> None:
        """Hold the answer of the server."""
        self._client, self._goal_id, self._response = action_client, goal_id, goal_response
        self._status: int = GoalStatus.STATUS_UNKNOWN

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClientGoalHandle):
            return NotImplemented
        return bytes(self._goal_id.uuid) == bytes(other._goal_id.uuid)

    def __hash__(self) -> int:
        return hash(bytes(self._goal_id.uuid))

    def __repr__(self) -> str:
        goal_id = bytes(self._goal_id.uuid).hex()
        return f"ClientGoalHandle <id={goal_id}, accepted={self.accepted}, status={self.status}>"

    @property
    def goal_id(self) -> Any:
        """The goal id."""
        return self._goal_id

    @property
    def stamp(self) -> Any:
        """When the server decided."""
        return self._response.stamp

    @property
    def accepted(self) -> bool:
        """Whether the server accepted the goal."""
        return bool(self._response.accepted)

    @property
    def status(self) -> int:
        """The newest status known, a constant of `action_msgs/msg/GoalStatus`."""
        return self._status

    def cancel_goal(self) -> Any:
        """Ask to cancel and block for the answer; another thread must spin the node.

        Returns:
            The answer, None when the context was shut down.
        """
        return self._client._wait_for(self.cancel_goal_async())

    def cancel_goal_async(self) -> Future[Any]:
        """Ask to cancel; the future holds a `CancelGoal` response."""
        return self._client._cancel_goal_async(self)

    def get_result(self) -> Any:
        """Block until the result; another thread must spin the node.

        Returns:
            The response of `get_result`, None when the context was shut down.
        """
        return self._client._wait_for(self.get_result_async())

    def get_result_async(self) -> Future[Any]:
        """The future result, with `.status` and `.result`."""
        return self._client._get_result_async(self)


class ActionClient:
    """Sends goals to one action."""

    def __init__(
        self,
        node: Node,
        action_type: Any,
        action_name: str,
        *,
        callback_group: CallbackGroup | None = None,
        goal_service_qos_profile: QoSProfile = qos_profile_services_default,
        result_service_qos_profile: QoSProfile = qos_profile_services_default,
        cancel_service_qos_profile: QoSProfile = qos_profile_services_default,
        feedback_sub_qos_profile: QoSProfile = qos_profile_default,
        status_sub_qos_profile: QoSProfile = qos_profile_action_status_default,
    ) -> None:
        """Make the client.

        Args:
            node: the owner.
            action_type: action class.
            action_name: may be relative or private.
            callback_group: of all callbacks; None takes the node's default group.
            goal_service_qos_profile, result_service_qos_profile, cancel_service_qos_profile: of the services.
            feedback_sub_qos_profile, status_sub_qos_profile: of the topics.

        Raises:
            NoTypeSupportImportedException: no action class.
        """
        check_is_interface(action_type, ("action",))
        self._node, self._action_type = node, action_type
        self._name = node.resolve_topic_name(action_name, only_expand=True)
        group = callback_group or node.default_callback_group
        impl, base = action_type.Impl, f"{self._name}/_action"
        self._handles: weakref.WeakValueDictionary[bytes, ClientGoalHandle] = weakref.WeakValueDictionary()
        self._feedback_callbacks: dict[bytes, Callable[[Any], Any]] = {}
        options: dict[str, Any] = {"callback_group": group}
        self._goal_client = node.create_client(
            impl.SendGoalService, f"{base}/send_goal", qos_profile=goal_service_qos_profile, **options
        )
        self._cancel_client = node.create_client(
            impl.CancelGoalService, f"{base}/cancel_goal", qos_profile=cancel_service_qos_profile, **options
        )
        self._result_client = node.create_client(
            impl.GetResultService,
            f"{base}/get_result",
            qos_profile=result_service_qos_profile,
            query_timeout=UNLIMITED_TIMEOUT_S,
            **options,
        )
        self._feedback = node.create_subscription(
            impl.FeedbackMessage, f"{base}/feedback", self._on_feedback, feedback_sub_qos_profile, **options
        )
        self._status = node.create_subscription(
            impl.GoalStatusMessage, f"{base}/status", self._on_status, status_sub_qos_profile, **options
        )

    def _on_feedback(self, message: Any) -> Any:
        callback = self._feedback_callbacks.get(bytes(message.goal_id.uuid))
        return callback(message) if callback is not None else None

    def _deliver_feedback(self) -> None:
        """Hand over the feedback that has come, which was sent before the answer that is about to be."""
        while (taken := self._feedback.take_message()) is not None:
            result = self._on_feedback(taken[0])
            executor = self._node.executor
            if inspect.iscoroutine(result) and executor is not None:
                executor.create_task(result)

    def _on_status(self, message: Any) -> None:
        for entry in message.status_list:
            key = bytes(entry.goal_info.goal_id.uuid)
            handle = self._handles.get(key)
            if handle is not None:
                handle._status = entry.status
            if entry.status in _ENDED and key in self._feedback_callbacks:
                self._deliver_feedback()
                self._feedback_callbacks.pop(key, None)

    def send_goal(
        self,
        goal: Any,
        feedback_callback: Callable[[Any], Any] | None = None,
        goal_uuid: Any = None,
    ) -> Any:
        """Send a goal and block until its result; another thread must spin the node.

        Returns:
            The response of `get_result`, or None when the goal was rejected or the context was shut down.
        """
        handle = self._wait_for(self.send_goal_async(goal, feedback_callback, goal_uuid))
        return handle.get_result() if handle is not None and handle.accepted else None

    def send_goal_async(
        self,
        goal: Any,
        feedback_callback: Callable[[Any], Any] | None = None,
        goal_uuid: Any = None,
    ) -> Future[ClientGoalHandle]:
        """Send a goal.

        Args:
            goal: the action's goal message.
            feedback_callback: called with each feedback message (`.goal_id`, `.feedback`).
            goal_uuid: `unique_identifier_msgs/msg/UUID`; None makes a random one.

        Returns:
            The future goal handle; look at its `accepted`.

        Raises:
            TypeError: another message than the action's goal.
        """
        if not isinstance(goal, self._action_type.Goal):
            raise TypeError(f"Expected {self._action_type.Goal}, got {type(goal)}")
        goal_id = goal_uuid or UUID(uuid=np.frombuffer(uuid.uuid4().bytes, np.uint8))
        key = bytes(goal_id.uuid)
        if feedback_callback is not None:  # before the request: feedback may come with the answer
            self._feedback_callbacks[key] = feedback_callback
        request = self._action_type.Impl.SendGoalService.Request(goal_id=goal_id, goal=goal)
        future: Future[ClientGoalHandle] = Future(executor=self._node.executor)

        def on_response(response: Future[Any]) -> None:
            future._set_executor(self._node.executor)
            error = response.exception()
            if error is not None:
                future.set_exception(error)
                return
            handle = ClientGoalHandle(self, goal_id, response.result())
            if handle.accepted:
                handle._status = GoalStatus.STATUS_ACCEPTED
                self._handles[key] = handle
            else:
                self._feedback_callbacks.pop(key, None)
            future.set_result(handle)

        self._goal_client.call_async(request)._add_waker(on_response)
        return future

    def _cancel_goal_async(self, handle: ClientGoalHandle) -> Future[Any]:
        request = CancelGoal.Request(goal_info=GoalInfo(goal_id=handle.goal_id))
        return self._cancel_client.call_async(request)

    def _get_result_async(self, handle: ClientGoalHandle) -> Future[Any]:
        key = bytes(handle.goal_id.uuid)
        request = self._action_type.Impl.GetResultService.Request(goal_id=handle.goal_id)
        future = self._result_client.call_async(request)

        def on_result(result: Future[Any]) -> None:
            response = result.result() if result.exception() is None else None
            if response is not None:
                handle._status = response.status
            self._deliver_feedback()
            self._feedback_callbacks.pop(key, None)

        future._add_waker(on_result)
        return future

    def _wait_for(self, future: Future[Any]) -> Any:
        """What a future holds once it is done; None when the context was shut down before."""
        return future.result() if wait_until_done(future, self._node.context) else None

    def get_num_entities(self) -> NumberOfEntities:
        """How many entities of each kind the client has."""
        return NumberOfEntities(num_subs=2, num_clients=3)

    def server_is_ready(self) -> bool:
        """True when the services of a server and its feedback are in the graph.

        The status is left out: it is latched, so that nothing of it is missed, and servers that programs
        put together by hand have none.
        """
        clients = (self._goal_client, self._cancel_client, self._result_client)
        graph = self._node.context.session.graph
        return all(client.service_is_ready() for client in clients) and bool(
            graph.endpoints((PUBLISHER,), self._feedback.topic_name)
        )

    def wait_for_server(self, timeout_sec: float | None = None) -> bool:
        """Block until a server is ready, for at most `timeout_sec` [s]; returns whether it is."""
        context = self._node.context
        graph = context.session.graph
        graph.wait_for(lambda: not context.ok() or self.server_is_ready(), timeout_sec)
        return context.ok() and self.server_is_ready()

    def destroy(self) -> None:
        """Take the client out of the graph."""
        for client in (self._goal_client, self._cancel_client, self._result_client):
            self._node.destroy_client(client)
        self._node.destroy_subscription(self._feedback)
        self._node.destroy_subscription(self._status)

    def _destroy_of(self, node: Node) -> bool:
        """Destroy the client if it is one of this node and is still there; returns whether it was."""
        if self._node is not node or self._goal_client._destroyed:
            return False
        self.destroy()
        return True

    def __enter__(self) -> ActionClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()


pass_on(__name__)
