"""A buffer in another process, asked through an action."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING, Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time as TimeMessage
from tf2_msgs.action import LookupTransform
from tf2_msgs.msg import TF2Error

from rclpy.action import ActionClient
from rclpy.duration import Duration
from tf2_py import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)
from tf2_py.times import SomeDuration, SomeTime, as_nanoseconds
from tf2_ros.buffer_interface import BufferInterface

if TYPE_CHECKING:
    from rclpy.node import Node

ERRORS: dict[int, type[Exception]] = {
    TF2Error.LOOKUP_ERROR: LookupException,
    TF2Error.CONNECTIVITY_ERROR: ConnectivityException,
    TF2Error.EXTRAPOLATION_ERROR: ExtrapolationException,
    TF2Error.INVALID_ARGUMENT_ERROR: InvalidArgumentException,
    TF2Error.TIMEOUT_ERROR: TimeoutException,
}
"""Exceptions by the numbers that stand for them on the wire."""


def _message(time: SomeTime) -> Any:
    """A time as a message."""
    seconds, nanoseconds = divmod(as_nanoseconds(time), 1_000_000_000)
    return TimeMessage(sec=seconds, nanosec=nanoseconds)


class BufferClient(BufferInterface):
    """Asks a `BufferServer`. Every question blocks, so another thread must spin the node."""

    def __init__(
        self,
        node: Node,
        ns: str,
        check_frequency: float = 10.0,
        timeout_padding: Duration | float = Duration(seconds=2.0),  # noqa: B008 - it cannot be changed
    ) -> None:
        """Make a client.

        Args:
            node: a node that another thread spins.
            ns: name of the server's action.
            check_frequency: accepted for rclpy's sake; nothing is polled here.
            timeout_padding: how much longer than a question's own timeout to wait for its answer;
                a number is one of seconds.
        """
        super().__init__()
        self.node = node
        self.action_client = ActionClient(node, LookupTransform, ns)
        self.check_frequency = check_frequency
        if isinstance(timeout_padding, (int, float)):
            timeout_padding = Duration(seconds=timeout_padding)
        self.timeout_padding: Duration = timeout_padding

    def destroy(self) -> None:
        """Take the client out of the graph."""
        self.action_client.destroy()

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: SomeTime, timeout: SomeDuration | None = None
    ) -> Any:
        """As `Buffer.lookup_transform`; raises TimeoutException, too, when the server does not answer."""
        return self._ask(
            LookupTransform.Goal(
                target_frame=target_frame, source_frame=source_frame, source_time=_message(time)
            ),
            timeout,
        )

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
    ) -> Any:
        """As `Buffer.lookup_transform_full`; raises TimeoutException when the server is silent."""
        return self._ask(
            LookupTransform.Goal(
                target_frame=target_frame,
                target_time=_message(target_time),
                source_frame=source_frame,
                source_time=_message(source_time),
                fixed_frame=fixed_frame,
                advanced=True,
            ),
            timeout,
        )

    def can_transform(
        self, target_frame: str, source_frame: str, time: SomeTime, timeout: SomeDuration | None = None
    ) -> bool:
        """Whether `lookup_transform` succeeds within the timeout."""
        try:
            self.lookup_transform(target_frame, source_frame, time, timeout)
        except TransformException:
            return False
        return True

    def can_transform_full(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
    ) -> bool:
        """Whether `lookup_transform_full` succeeds within the timeout."""
        try:
            self.lookup_transform_full(
                target_frame, target_time, source_frame, source_time, fixed_frame, timeout
            )
        except TransformException:
            return False
        return True

    def _ask(self, goal: Any, timeout: SomeDuration | None) -> Any:
        if not self.action_client.server_is_ready():
            raise TimeoutException("The BufferServer is not ready.")
        waiting = Duration(nanoseconds=0 if timeout is None else as_nanoseconds(timeout))
        goal.timeout = waiting.to_msg()
        end = wall.monotonic() + (waiting.nanoseconds + self.timeout_padding.nanoseconds) / 1e9
        handle = self._wait(self.action_client.send_goal_async(goal), end)
        if not handle.accepted:
            raise TimeoutException("The BufferServer did not accept the question.")
        answer = self._wait(handle.get_result_async(), end)
        result, error = answer.result, answer.result.error.error
        if error != TF2Error.NO_ERROR:
            raise ERRORS.get(error, TransformException)(result.error.error_string)
        if answer.status != GoalStatus.STATUS_SUCCEEDED and not result.transform.child_frame_id:
            raise TransformException(f"The BufferServer gave the question up (status {answer.status}).")
        return result.transform

    def _wait(self, future: Any, end: float) -> Any:
        if not future.wait(max(end - wall.monotonic(), 0.0)):
            raise TimeoutException("The BufferServer did not answer in time. Is the client's node spun?")
        return future.result()
