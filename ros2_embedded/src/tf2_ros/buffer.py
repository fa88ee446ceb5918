"""The buffer that nodes ask for transforms."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tf2_msgs.srv import FrameGraph

from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.task import Future
from tf2_py import BufferCore, TransformException
from tf2_py.times import SomeDuration, SomeTime, as_nanoseconds
from tf2_ros.buffer_interface import BufferInterface

if TYPE_CHECKING:
    from rclpy.node import Node


class Buffer(BufferCore, BufferInterface):
    """Transforms of the last seconds; a `TransformListener` fills it.

    A lookup with a timeout blocks, so another thread must spin the listener's node; use the `..._async`
    methods in callbacks.
    """

    def __init__(self, cache_time: Duration | None = None, node: Node | None = None) -> None:
        """Make a buffer.

        Args:
            cache_time: how far back transforms are kept; None keeps 10 s.
            node: serves the frames as `tf2_frames` for tools, and its clock clears the buffer when it is set
                back; None does neither.
        """
        BufferCore.__init__(self, cache_time)
        BufferInterface.__init__(self)
        if node is not None:
            self.srv = node.create_service(FrameGraph, "tf2_frames", self._on_frames)
            back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1))
            self.jump_handle = node.get_clock().create_jump_callback(
                back, post_callback=self.time_jump_callback
            )

    def time_jump_callback(self, time_jump: TimeJump) -> None:
        """Forget what moves: its times mean nothing after the clock was set back or changed."""
        self.clear()

    def _on_frames(self, request: Any, response: Any) -> Any:
        response.frame_yaml = self.all_frames_as_yaml()
        return response

    def _wait(self, ready: Callable[[], tuple[bool, str]], timeout: SomeDuration | None) -> tuple[bool, str]:
        """The last answer of a question that is asked again after each change, until yes or the timeout."""
        with self._changed:
            span = 0 if timeout is None else as_nanoseconds(timeout)
            if span > 0:
                self._changed.wait_for(lambda: ready()[0], span / 1e9)
            return ready()

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: SomeTime, timeout: SomeDuration | None = None
    ) -> Any:
        """The transform that takes coordinates from the source to the target frame.

        Args:
            target_frame: frame of the result.
            source_frame: frame of the data.
            time: when, as rclpy has it or as a message; zero takes the newest time for which it is known.
            timeout: how long to wait for it; None does not wait.

        Returns:
            `geometry_msgs/msg/TransformStamped`.

        Raises:
            LookupException, ConnectivityException, ExtrapolationException, InvalidArgumentException: see
                there.
        """
        self._wait(lambda: self.can_transform_core(target_frame, source_frame, time), timeout)
        return self.lookup_transform_core(target_frame, source_frame, time)

    async def lookup_transform_async(self, target_frame: str, source_frame: str, time: SomeTime) -> Any:
        """As `lookup_transform`; waits, without blocking, until it can be answered."""
        return await self.wait_for_transform_async(target_frame, source_frame, time)

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
    ) -> Any:
        """The transform from the source frame at one time to the target frame at another.

        `fixed_frame` did not move between the two. See `lookup_transform`.
        """
        places = (target_frame, target_time, source_frame, source_time, fixed_frame)
        self._wait(lambda: self.can_transform_full_core(*places), timeout)
        return self.lookup_transform_full_core(*places)

    async def lookup_transform_full_async(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
    ) -> Any:
        """As `lookup_transform_full`; waits, without blocking, until it can be answered."""
        return await self.wait_for_transform_full_async(
            target_frame, target_time, source_frame, source_time, fixed_frame
        )

    def can_transform(  # type: ignore[override]
        self,
        target_frame: str,
        source_frame: str,
        time: SomeTime,
        timeout: SomeDuration | None = None,
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Whether `lookup_transform` would succeed in time; with `return_debug_tuple` also why not."""
        answer = self._wait(lambda: self.can_transform_core(target_frame, source_frame, time), timeout)
        return answer if return_debug_tuple else answer[0]

    def can_transform_full(  # type: ignore[override]
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
        return_debug_tuple: bool = False,
    ) -> bool | tuple[bool, str]:
        """Whether `lookup_transform_full` would succeed within the timeout."""
        places = (target_frame, target_time, source_frame, source_time, fixed_frame)
        answer = self._wait(lambda: self.can_transform_full_core(*places), timeout)
        return answer if return_debug_tuple else answer[0]

    def wait_for_transform_async(self, target_frame: str, source_frame: str, time: SomeTime) -> Future[Any]:
        """A future that is done, with the transform, as soon as that is available."""
        return self._future(lambda: self.lookup_transform_core(target_frame, source_frame, time))

    def wait_for_transform_full_async(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
    ) -> Future[Any]:
        """A future that is done, with the transform, as soon as that is available."""
        places = (target_frame, target_time, source_frame, source_time, fixed_frame)
        return self._future(lambda: self.lookup_transform_full_core(*places))

    def _future(self, look_up: Callable[[], Any]) -> Future[Any]:
        """A future that finishes when a lookup succeeds; it is tried after each change."""
        future: Future[Any] = Future()

        def ask() -> None:
            if not future.done():
                with suppress(TransformException):
                    future.set_result(look_up())

        def forget(_: Future[Any]) -> None:
            with self._changed:
                if ask in self._listeners:
                    self._listeners.remove(ask)

        with self._changed:
            self._listeners.append(ask)
        future._add_waker(forget)
        try:
            ask()
        except BaseException:  # of what is no question it must not be asked again after each change
            forget(future)
            raise
        return future
