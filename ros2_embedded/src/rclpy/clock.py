"""Clocks: system time, steady time, and ROS time that may follow `/clock`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from threading import Condition
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING

from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.exceptions import NotInitializedException
from rclpy.handle import Handle
from rclpy.passed_on import pass_on
from rclpy.time import Time

if TYPE_CHECKING:
    from rclpy.context import Context


class ClockChange(IntEnum):
    """What kind of change a time jump was."""

    ROS_TIME_NO_CHANGE = 1
    ROS_TIME_ACTIVATED = 2
    ROS_TIME_DEACTIVATED = 3
    SYSTEM_TIME_NO_CHANGE = 4


@dataclass(frozen=True)
class TimeJump:
    """A jump: its kind, and how far time moved."""

    clock_change: ClockChange
    delta: Duration


class JumpThreshold:
    """Which jumps a callback wants to know of."""

    def __init__(
        self, *, min_forward: Duration | None, min_backward: Duration | None, on_clock_change: bool = True
    ) -> None:
        """Set the limits.

        Args:
            min_forward: smallest forward jump, positive; None for no forward jumps.
            min_backward: smallest backward jump, negative; None for no backward jumps.
            on_clock_change: also tell when ROS time starts or stops to be simulated.

        Raises:
            ValueError: a limit of the wrong sign, or nothing to tell.
        """
        if min_forward is not None and min_forward.nanoseconds <= 0:
            raise ValueError("min_forward must be a positive non-zero duration")
        if min_backward is not None and min_backward.nanoseconds >= 0:
            raise ValueError("min_backward must be a negative non-zero duration")
        if min_forward is None and min_backward is None and not on_clock_change:
            raise ValueError("At least one jump threshold must be enabled")
        self.min_forward, self.min_backward, self.on_clock_change = min_forward, min_backward, on_clock_change

    def exceeded(self, jump: TimeJump) -> bool:
        """True when the jump passes a limit."""
        if jump.clock_change in (ClockChange.ROS_TIME_ACTIVATED, ClockChange.ROS_TIME_DEACTIVATED):
            return self.on_clock_change
        if self.min_forward is not None and jump.delta >= self.min_forward:
            return True
        return self.min_backward is not None and jump.delta <= self.min_backward


class JumpHandle:
    """A registered pair of jump callbacks; usable as a context manager."""

    def __init__(
        self,
        clock: Clock,
        threshold: JumpThreshold,
        pre_callback: Callable[[], None] | None,
        post_callback: Callable[[TimeJump], None] | None,
    ) -> None:
        """Register with the clock.

        Raises:
            ValueError: no callback at all.
        """
        if pre_callback is None and post_callback is None:
            raise ValueError("One of pre_callback or post_callback must be callable")
        self.threshold, self.pre_callback, self.post_callback = threshold, pre_callback, post_callback
        self._clock: Clock | None = clock
        clock._jump_handles.append(self)

    def unregister(self) -> None:
        """Stop the callbacks."""
        if self._clock is not None and self in self._clock._jump_handles:
            self._clock._jump_handles.remove(self)
        self._clock = None

    def __enter__(self) -> JumpHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()


class Clock:
    """A clock of one kind. `Clock(clock_type=ClockType.ROS_TIME)` makes a `ROSClock`."""

    def __new__(cls, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> Clock:
        """Choose the class by the type.

        Raises:
            TypeError: no `ClockType`.
        """
        if not isinstance(clock_type, ClockType):
            raise TypeError("Clock type must be a ClockType enum")
        return super().__new__(ROSClock if clock_type is ClockType.ROS_TIME else cls)

    def __init__(self, *, clock_type: ClockType = ClockType.SYSTEM_TIME) -> None:
        """Make a clock."""
        self._clock_type = clock_type
        self._handle = Handle(lambda: True, self)
        self._jump_handles: list[JumpHandle] = []

    @property
    def clock_type(self) -> ClockType:
        """The kind of clock."""
        return self._clock_type

    @property
    def handle(self) -> Handle:
        """Return a handle to use in a `with` statement; a clock is always there."""
        return self._handle

    @property
    def follows_wall(self) -> bool:
        """True while the clock advances by itself, so that a timeout can wait for it."""
        return True

    def __repr__(self) -> str:
        return f"Clock(clock_type={self._clock_type.name})"

    def nanoseconds(self) -> int:
        """The time now in nanoseconds since the clock's epoch."""
        return monotonic_ns() if self._clock_type is ClockType.STEADY_TIME else time_ns()

    def now(self) -> Time:
        """The time now."""
        return Time(nanoseconds=self.nanoseconds(), clock_type=self._clock_type)

    def create_jump_callback(
        self,
        threshold: JumpThreshold,
        *,
        pre_callback: Callable[[], None] | None = None,
        post_callback: Callable[[TimeJump], None] | None = None,
    ) -> JumpHandle:
        """Call functions around time jumps that pass the threshold."""
        return JumpHandle(self, threshold, pre_callback, post_callback)

    def sleep_until(self, until: Time, context: Context | None = None) -> bool:
        """Sleep until a time of this clock.

        Returns:
            True when the time was reached, False when shutdown or a change of the time source ended the
            sleep.

        Raises:
            ValueError: a time of another clock.
            NotInitializedException: the context is not initialised.
        """
        from rclpy.utilities import get_default_context

        context = context or get_default_context()
        if not context.ok():
            raise NotInitializedException("sleep_until: the context is not valid")
        if until.clock_type != self._clock_type:
            raise ValueError("until's clock type does not match this clock's type")
        return self._sleep(until, context, Condition(), lambda: False)

    def _sleep(
        self, until: Time, context: Context, condition: Condition, stopped: Callable[[], bool]
    ) -> bool:
        """Sleep; the condition wakes it to look whether it was stopped."""
        changes: list[TimeJump] = []

        def wake(jump: TimeJump | None = None) -> None:
            with condition:
                if jump is not None and jump.clock_change != ClockChange.ROS_TIME_NO_CHANGE:
                    changes.append(jump)
                condition.notify_all()

        smallest = Duration(nanoseconds=1)
        threshold = JumpThreshold(min_forward=smallest, min_backward=-smallest)
        context.on_shutdown(wake)
        try:
            with self.create_jump_callback(threshold, post_callback=wake), condition:
                while context.ok() and not changes and not stopped():
                    left = until.nanoseconds - self.nanoseconds()
                    if left <= 0:
                        return True
                    condition.wait(left / 1e9 if self.follows_wall else None)
            return False
        finally:
            context._off_shutdown(wake)

    def sleep_for(self, rel_time: Duration, context: Context | None = None) -> bool:
        """Sleep for a span of this clock; see `sleep_until`."""
        return self.sleep_until(self.now() + rel_time, context)

    def _jump(self, change: ClockChange, delta: int, apply: Callable[[], None]) -> None:
        """Apply a change of time between the callbacks that want to know."""
        jump = TimeJump(change, Duration(nanoseconds=delta))
        handles = [handle for handle in list(self._jump_handles) if handle.threshold.exceeded(jump)]
        for handle in handles:
            if handle.pre_callback is not None:
                handle.pre_callback()
        apply()
        for handle in handles:
            if handle.post_callback is not None:
                handle.post_callback(jump)


class ROSClock(Clock):
    """ROS time: system time until a time source switches simulated time on."""

    def __new__(cls, *, clock_type: ClockType = ClockType.ROS_TIME) -> ROSClock:
        """Make a ROS clock."""
        return object.__new__(cls)

    def __init__(self, *, clock_type: ClockType = ClockType.ROS_TIME) -> None:
        """Start with system time."""
        super().__init__(clock_type=ClockType.ROS_TIME)
        self._simulated = False
        self._override = 0

    @property
    def ros_time_is_active(self) -> bool:
        """True while the time is simulated."""
        return self._simulated

    @property
    def follows_wall(self) -> bool:
        """False while the time is simulated: then it moves with `/clock` only."""
        return not self._simulated

    def nanoseconds(self) -> int:
        """The time now; 0 while simulated and no `/clock` message came yet."""
        return self._override if self._simulated else time_ns()

    def _set_ros_time_is_active(self, enabled: bool) -> None:
        """Switch simulated time on or off."""
        if enabled == self._simulated:
            return

        def apply() -> None:
            self._simulated = enabled

        change = ClockChange.ROS_TIME_ACTIVATED if enabled else ClockChange.ROS_TIME_DEACTIVATED
        delta = self._override - time_ns()
        self._jump(change, delta if enabled else -delta, apply)

    def set_ros_time_override(self, time: Time) -> None:
        """Set the simulated time; jumping back is allowed."""

        def apply() -> None:
            self._override = time.nanoseconds

        if self._simulated:
            self._jump(ClockChange.ROS_TIME_NO_CHANGE, time.nanoseconds - self._override, apply)
        else:
            apply()


pass_on(__name__)
