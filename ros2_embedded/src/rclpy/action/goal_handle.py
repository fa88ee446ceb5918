"""A goal as its action server sees it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from threading import RLock
from typing import TYPE_CHECKING, Any

from action_msgs.msg import GoalStatus

from rclpy.action.goal_state import ACTIVE, GoalEvent, next_status

if TYPE_CHECKING:
    from rclpy.action.server import ActionServer


class GoalResponse(Enum):
    """What a goal callback answers."""

    REJECT = 1
    ACCEPT = 2


class CancelResponse(Enum):
    """What a cancel callback answers."""

    REJECT = 1
    ACCEPT = 2


class ServerGoalHandle:
    """A goal on the server."""

    def __init__(self, action_server: ActionServer, goal_info: Any, goal_request: Any) -> None:
        """Start in status ACCEPTED."""
        self._server, self._info, self._request = action_server, goal_info, goal_request
        self._status: int = GoalStatus.STATUS_ACCEPTED
        self._lock = RLock()
        self.finished_at: int | None = None  # [ns] of the clock of the node

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ServerGoalHandle):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> bytes:
        """The goal id as bytes."""
        return bytes(self._info.goal_id.uuid)

    @property
    def request(self) -> Any:
        """The goal message."""
        return self._request

    @property
    def goal_id(self) -> Any:
        """The goal id, `unique_identifier_msgs/msg/UUID`."""
        return self._info.goal_id

    @property
    def goal_info(self) -> Any:
        """Goal id and time of acceptance."""
        return self._info

    @property
    def is_active(self) -> bool:
        """True until the goal succeeded, aborted or was canceled."""
        return self._status in ACTIVE

    @property
    def is_cancel_requested(self) -> bool:
        """True after a cancel request was accepted, until the goal ends."""
        return self._status == GoalStatus.STATUS_CANCELING

    @property
    def status(self) -> int:
        """The status, a constant of `action_msgs/msg/GoalStatus`; UNKNOWN once the server forgot the goal."""
        return self._status

    def _update(self, event: GoalEvent) -> None:
        with self._lock:
            self._status = next_status(self._status, event)
            if self._status not in ACTIVE:
                self._server._ended(self)
        self._server._publish_status()

    def execute(self, execute_callback: Callable[..., Any] | None = None) -> None:
        """Start executing, with the server's callback or another one.

        Raises:
            RuntimeError: there is neither.
        """
        with self._lock:  # a cancel request may be accepted in another thread meanwhile
            if not self.is_cancel_requested:
                self.executing()
        self._server._start(self, execute_callback)

    def executing(self) -> None:
        """Say that the goal is being executed, where a program does that without an execute callback."""
        self._update(GoalEvent.EXECUTE)

    def publish_feedback(self, feedback: Any) -> None:
        """Tell the client how it goes.

        Raises:
            TypeError: another message than the action's feedback.
        """
        action_type = self._server.action_type
        if not isinstance(feedback, action_type.Feedback):
            raise TypeError(f"Expected {action_type.Feedback}, got {type(feedback)}")
        if self.is_active:
            self._server._publish_feedback(
                action_type.Impl.FeedbackMessage(goal_id=self.goal_id, feedback=feedback)
            )

    def succeed(self, response: Any = None) -> None:
        """End the goal with success; `response` makes the result known at once."""
        self._end(GoalEvent.SUCCEED, response)

    def abort(self, response: Any = None) -> None:
        """End the goal as aborted."""
        self._end(GoalEvent.ABORT, response)

    def canceled(self, response: Any = None) -> None:
        """End the goal as canceled, after a cancel request."""
        self._end(GoalEvent.CANCELED, response)

    def _end(self, event: GoalEvent, response: Any) -> None:
        self._update(event)
        if response is not None:
            self._server._set_result(self, response)

    def destroy(self) -> None:
        """Forget the goal."""
        self._server._forget(self)
