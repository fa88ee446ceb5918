"""Action servers."""

from __future__ import annotations

import inspect
import traceback
from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal

from rclpy.action.goal_handle import CancelResponse, GoalResponse, ServerGoalHandle
from rclpy.action.goal_state import GoalEvent
from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.endpoint import check_is_interface
from rclpy.passed_on import pass_on
from rclpy.qos import (
    QoSProfile,
    qos_profile_action_status_default,
    qos_profile_default,
    qos_profile_services_default,
)
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities

if TYPE_CHECKING:
    from rclpy.node import Node


def default_handle_accepted_callback(goal_handle: ServerGoalHandle) -> None:
    """Execute the goal at once."""
    goal_handle.execute()


def default_goal_callback(goal_request: Any) -> GoalResponse:
    """Accept each goal."""
    return GoalResponse.ACCEPT


def default_cancel_callback(cancel_request: Any) -> CancelResponse:
    """Refuse each cancel request."""
    return CancelResponse.REJECT


class ActionServer:
    """Serves one action: three services and two topics below `<name>/_action`."""

    def __init__(
        self,
        node: Node,
        action_type: Any,
        action_name: str,
        execute_callback: Callable[..., Any] | None = None,
        *,
        callback_group: CallbackGroup | None = None,
        goal_callback: Callable[[Any], GoalResponse] = default_goal_callback,
        handle_accepted_callback: Callable[[ServerGoalHandle], Any] = default_handle_accepted_callback,
        cancel_callback: Callable[[Any], CancelResponse] = default_cancel_callback,
        goal_service_qos_profile: QoSProfile = qos_profile_services_default,
        result_service_qos_profile: QoSProfile = qos_profile_services_default,
        cancel_service_qos_profile: QoSProfile = qos_profile_services_default,
        feedback_pub_qos_profile: QoSProfile = qos_profile_default,
        status_pub_qos_profile: QoSProfile = qos_profile_action_status_default,
        result_timeout: float = 10,
    ) -> None:
        """Make the server.

        Args:
            node: the owner.
            action_type: action class.
            action_name: may be relative or private.
            execute_callback: function or coroutine: goal handle -> result; None when goals are executed and
                ended by other code, through `handle_accepted_callback`.
            callback_group: of all callbacks; None takes the node's default group.
            goal_callback: goal message -> accept or reject.
            handle_accepted_callback: what to do with an accepted goal; the default executes it.
            cancel_callback: goal handle -> accept or reject the cancel request; the default rejects.
            goal_service_qos_profile, result_service_qos_profile, cancel_service_qos_profile: of the services.
            feedback_pub_qos_profile, status_pub_qos_profile: of the topics.
            result_timeout: how long results are kept [s]; negative keeps them for ever.

        Raises:
            NoTypeSupportImportedException: no action class.
            TypeError: a callback is not callable.
        """
        check_is_interface(action_type, ("action",))
        self._action_type, self.result_timeout = action_type, result_timeout
        self._node, self._lock = node, RLock()
        self._name = node.resolve_topic_name(action_name, only_expand=True)
        self._group = callback_group or node.default_callback_group
        self.register_goal_callback(goal_callback)
        self.register_cancel_callback(cancel_callback)
        self.register_execute_callback(execute_callback)
        self.register_handle_accepted_callback(handle_accepted_callback)
        self._goal_handles: dict[bytes, ServerGoalHandle] = {}
        self._results: dict[bytes, Future[Any]] = {}
        # Accepted goals by `id` of the response; kept with them, so that no other gets this `id` meanwhile.
        self._unanswered: dict[int, tuple[Any, ServerGoalHandle]] = {}
        impl, base = action_type.Impl, f"{self._name}/_action"
        self._status_publisher = node.create_publisher(
            impl.GoalStatusMessage, f"{base}/status", status_pub_qos_profile
        )
        self._feedback_publisher = node.create_publisher(
            impl.FeedbackMessage, f"{base}/feedback", feedback_pub_qos_profile
        )
        # A result request waits for its goal to end, and must not keep other callbacks waiting.
        waiting = ReentrantCallbackGroup()
        services = (
            (impl.CancelGoalService, "cancel_goal", self._on_cancel, cancel_service_qos_profile, self._group),
            (impl.GetResultService, "get_result", self._on_result, result_service_qos_profile, waiting),
            (impl.SendGoalService, "send_goal", self._on_goal, goal_service_qos_profile, self._group),
        )
        self._expiry = node.create_timer(
            max(result_timeout, 0.0), self._drop_expired, callback_group=waiting, autostart=False
        )
        self._deferred: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        self._guard = node.create_guard_condition(self._run_deferred, callback_group=waiting)
        self._services = [
            node.create_service(kind, f"{base}/{name}", function, qos_profile=qos, callback_group=group)
            for kind, name, function, qos, group in services
        ]
        self._services[-1].on_response_sent = self._answered

    def register_goal_callback(self, goal_callback: Callable[[Any], GoalResponse] | None) -> None:
        """Replace the goal callback; None accepts each goal."""
        self._goal_callback = _callable(goal_callback or default_goal_callback)

    def register_cancel_callback(self, cancel_callback: Callable[[Any], CancelResponse] | None) -> None:
        """Replace the cancel callback; None refuses each request."""
        self._cancel_callback = _callable(cancel_callback or default_cancel_callback)

    def register_execute_callback(self, execute_callback: Callable[..., Any] | None) -> None:
        """Replace the execute callback; None leaves it to whoever gets the goal handles."""
        self._execute_callback = None if execute_callback is None else _callable(execute_callback)

    @property
    def action_type(self) -> Any:
        """The class of the action."""
        return self._action_type

    def get_num_entities(self) -> NumberOfEntities:
        """How many entities of each kind the server has; the timer forgets old results."""
        return NumberOfEntities(num_timers=1, num_services=3)

    def register_handle_accepted_callback(
        self, handle_accepted_callback: Callable[[ServerGoalHandle], Any] | None
    ) -> None:
        """Replace the accepted callback; None executes goals at once."""
        self._accepted_callback = _callable(handle_accepted_callback or default_handle_accepted_callback)

    async def _on_goal(self, request: Any, response: Any) -> Any:
        """Answer a goal request; an accepted goal starts after the answer was decided."""
        info = GoalInfo(goal_id=request.goal_id, stamp=self._node.get_clock().now().to_msg())
        response.stamp = info.stamp
        key = bytes(request.goal_id.uuid)
        self._drop_expired()
        if key in self._goal_handles:
            return response
        decision = await self._decide(self._goal_callback, request.goal)
        if decision is not GoalResponse.ACCEPT:
            return response
        handle = ServerGoalHandle(self, info, request.goal)
        with self._lock:
            self._goal_handles[key] = handle
            self._results[key] = Future(executor=self._node.executor)
        self._publish_status()
        response.accepted = True
        self._unanswered[id(response)] = response, handle
        return response

    def _answered(self, response: Any) -> None:
        """Call the accepted callback, once the answer is on its way and before anything else."""
        _, handle = self._unanswered.pop(id(response), (None, None))
        if handle is not None:
            result = self._accepted_callback(handle)
            if inspect.iscoroutine(result):
                self._defer(lambda: result)

    async def _decide(self, callback: Callable[..., Any], argument: Any) -> Any:
        """The answer of a user's callback; one that fails refuses."""
        try:
            return await _result_of(callback(argument))
        except Exception as error:  # noqa: BLE001 - the user's code failed: the client must still get an answer
            told = "".join(traceback.format_exception(error))
            self._node.get_logger().error(f"Error raised in a callback of {self._name}: {error!r}\n{told}")
            return None

    def _defer(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Run after the present callback, as a task of the executor; of the next one without one now."""
        executor = self._node.executor
        if executor is not None:
            executor.create_task(function, *arguments)
            return
        self._deferred.append((function, arguments))
        self._guard.trigger()

    def _run_deferred(self) -> None:
        executor = self._node.executor
        while executor is not None and self._deferred:
            function, arguments = self._deferred.popleft()
            executor.create_task(function, *arguments)

    def _start(self, handle: ServerGoalHandle, execute_callback: Callable[..., Any] | None) -> None:
        function = execute_callback or self._execute_callback
        if function is None:
            raise RuntimeError(f"{self._name}: execute() needs an execute callback")
        self._defer(self._execute, handle, function)

    async def _execute(self, handle: ServerGoalHandle, execute_callback: Callable[..., Any]) -> None:
        """Run the user's callback and keep its result; a goal left unfinished is aborted."""
        logger = self._node.get_logger()
        result: Any = None
        try:
            result = await _result_of(execute_callback(handle))
        except Exception as error:  # noqa: BLE001 - the user's code failed: the client must still get an answer
            told = "".join(traceback.format_exception(error))
            logger.error(f"Error raised in execute callback of {self._name}: {error!r}\n{told}")
        if handle.is_active:
            logger.warning(f"Goal state of {self._name} not set, assuming aborted")
            if handle.status == GoalStatus.STATUS_ACCEPTED:
                handle._update(GoalEvent.EXECUTE)
            handle.abort()
        self._set_result(handle, result if isinstance(result, self.action_type.Result) else None)

    def _set_result(self, handle: ServerGoalHandle, result: Any) -> None:
        """Make a result known; the first one counts."""
        future = self._results.get(handle.key)
        if future is not None and not future.done():
            message = result if result is not None else self.action_type.Result()
            response = self.action_type.Impl.GetResultService.Response(status=handle.status, result=message)
            future.set_result(response)

    async def _on_cancel(self, request: Any, response: Any) -> Any:
        """Answer a cancel request: one goal, all goals, or all goals accepted before a time."""
        self._drop_expired()
        chosen = self._select(request.goal_info)
        if chosen is None:
            response.return_code = CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
            return response
        active = [handle for handle in chosen if handle.is_active]
        if chosen and not active and any(request.goal_info.goal_id.uuid):
            response.return_code = CancelGoal.Response.ERROR_GOAL_TERMINATED
            return response
        for handle in active:
            if await self._decide(self._cancel_callback, handle) is not CancelResponse.ACCEPT:
                continue
            with handle._lock:
                if handle.is_active and not handle.is_cancel_requested:
                    handle._update(GoalEvent.CANCEL_GOAL)
            if handle.is_active:
                response.goals_canceling.append(handle.goal_info)
        if active and not response.goals_canceling:
            response.return_code = CancelGoal.Response.ERROR_REJECTED
        return response

    def _select(self, info: Any) -> list[ServerGoalHandle] | None:
        """The goals a cancel request means; None for an unknown goal id."""
        by_id = any(info.goal_id.uuid)
        stamp = (info.stamp.sec, info.stamp.nanosec)
        goals = list(self._goal_handles.values())
        if by_id and bytes(info.goal_id.uuid) not in self._goal_handles and stamp == (0, 0):
            return None
        if not by_id and stamp == (0, 0):
            return goals
        return [
            handle
            for handle in goals
            if (by_id and handle.key == bytes(info.goal_id.uuid))
            or (stamp != (0, 0) and (handle.goal_info.stamp.sec, handle.goal_info.stamp.nanosec) <= stamp)
        ]

    async def _on_result(self, request: Any, response: Any) -> Any:
        """Answer a result request when the goal has ended; an unknown goal is answered at once."""
        future = self._results.get(bytes(request.goal_id.uuid))
        if future is None:
            response.status = GoalStatus.STATUS_UNKNOWN
            return response
        return await future

    def _publish_status(self) -> None:
        self._status_publisher.publish(
            GoalStatusArray(
                status_list=[
                    GoalStatus(goal_info=handle.goal_info, status=handle.status)
                    for handle in list(self._goal_handles.values())
                ]
            )
        )

    def _publish_feedback(self, message: Any) -> None:
        self._feedback_publisher.publish(message)

    def _forget(self, handle: ServerGoalHandle) -> None:
        with self._lock:
            self._goal_handles.pop(handle.key, None)
            self._results.pop(handle.key, None)
        handle._status = GoalStatus.STATUS_UNKNOWN

    def _ended(self, handle: ServerGoalHandle) -> None:
        """Remember when a goal ended, and look at it again when its result is old."""
        handle.finished_at = self._node.get_clock().nanoseconds()
        if self.result_timeout >= 0 and self._services:
            self._expiry.reset()

    def _drop_expired(self) -> None:
        """Forget goals that ended more than `result_timeout` ago."""
        self._expiry.cancel()
        if self.result_timeout < 0:
            return
        limit = self._node.get_clock().nanoseconds() - int(self.result_timeout * 1e9)
        for handle in list(self._goal_handles.values()):
            if handle.finished_at is not None and handle.finished_at <= limit:
                self._forget(handle)
            elif handle.finished_at is not None:
                self._expiry.reset()

    def destroy(self) -> None:
        """Take the action out of the graph."""
        for service in self._services:
            self._node.destroy_service(service)
        self._node.destroy_timer(self._expiry)
        self._node.destroy_guard_condition(self._guard)
        self._node.destroy_publisher(self._status_publisher)
        self._node.destroy_publisher(self._feedback_publisher)
        self._services = []

    def __enter__(self) -> ActionServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()


async def _result_of(value: Any) -> Any:
    """The value, awaited when it is a coroutine or a future."""
    return await value if inspect.isawaitable(value) else value


def _callable(function: Any) -> Any:
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    return function


pass_on(__name__)
