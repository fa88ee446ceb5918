"""A buffer for other processes, offered as an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tf2_msgs.action import LookupTransform
from tf2_msgs.msg import TF2Error

from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.task import Future
from tf2_py import TransformException
from tf2_ros.buffer_client import ERRORS

if TYPE_CHECKING:
    from rclpy.action.server import ServerGoalHandle
    from rclpy.node import Node
    from tf2_ros.buffer import Buffer


class BufferServer:
    """Answers each `BufferClient` as soon as the transform is known, or its timeout is over."""

    def __init__(self, buffer: Buffer, node: Node, ns: str) -> None:
        """Offer a buffer.

        Args:
            buffer: what a `TransformListener` fills.
            node: a node that is spun.
            ns: name of the action.
        """
        self._buffer, self._node = buffer, node
        self._server = ActionServer(
            node, LookupTransform, ns, self._answer, callback_group=ReentrantCallbackGroup()
        )

    def destroy(self) -> None:
        """Stop answering."""
        self._server.destroy()

    async def _answer(self, handle: ServerGoalHandle) -> Any:
        goal = handle.request
        places: tuple[Any, ...] = (goal.target_frame, goal.source_frame, goal.source_time)
        wait: Callable[..., Any] = self._buffer.wait_for_transform_async
        lookup: Callable[..., Any] = self._buffer.lookup_transform
        if goal.advanced:
            times = goal.target_time, goal.source_time
            places = (goal.target_frame, times[0], goal.source_frame, times[1], goal.fixed_frame)
            wait, lookup = self._buffer.wait_for_transform_full_async, self._buffer.lookup_transform_full
        await self._within(wait(*places), Duration.from_msg(goal.timeout))
        result = LookupTransform.Result()
        try:
            result.transform = lookup(*places)
        except TransformException as error:
            numbers = (number for number, kind in ERRORS.items() if isinstance(error, kind))
            result.error.error = next(numbers, TF2Error.TRANSFORM_ERROR)
            result.error.error_string = str(error)
        handle.succeed()
        return result

    async def _within(self, future: Future[bool], timeout: Duration) -> None:
        """Wait for a future, but no longer than the timeout."""
        if future.done() or timeout.nanoseconds <= 0:
            future.cancel()
            return
        over: Future[None] = Future(executor=self._node.executor)

        def finish(*_: Any) -> None:
            if not over.done():
                over.set_result(None)

        timer = self._node.create_timer(timeout.nanoseconds / 1e9, finish)
        future.add_done_callback(finish)
        await over
        self._node.destroy_timer(timer)
        future.cancel()
