"""Timers and rates."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from threading import Condition, RLock
from typing import TYPE_CHECKING, Any

from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.entity import Entity
from rclpy.exceptions import ROSInterruptException
from rclpy.impl.handles import TimerHandle
from rclpy.passed_on import pass_on
from rclpy.time import Time

if TYPE_CHECKING:
    from rclpy.context import Context


class TimerInfo:
    """When a call was due, and when it was made."""

    def __init__(
        self,
        expected_call_time: int = 0,
        actual_call_time: int = 0,
        clock_type: ClockType = ClockType.SYSTEM_TIME,
    ) -> None:
        """Make it of times in nanoseconds of a clock."""
        self.expected_call_time = Time(nanoseconds=expected_call_time, clock_type=clock_type)
        self.actual_call_time = Time(nanoseconds=actual_call_time, clock_type=clock_type)


class Timer(Entity):
    """Calls a function at a fixed period of a clock; make it with `Node.create_timer`.

    The function takes nothing, or a `TimerInfo`.

    A timer that is late calls once and stays in phase. When its clock jumps back, it waits for one period
    from the new time. Simulated time is zero until its first message comes: one that is late by then calls.
    """

    _handle_type = TimerHandle
    _turn = 0

    def __init__(
        self,
        callback: Callable[..., Any] | None,
        callback_group: CallbackGroup | None,
        timer_period_ns: int,
        clock: Clock,
        *,
        autostart: bool = True,
    ) -> None:
        """Make a timer; the period is in nanoseconds.

        Raises:
            ValueError: a negative period.
        """
        if timer_period_ns < 0:
            raise ValueError("timer period must be non-negative")
        super().__init__(callback_group)
        self.callback = callback
        self._period, self._clock = int(timer_period_ns), clock
        self._canceled = not autostart
        self._lock = RLock()  # a signal may interrupt who holds it
        now = clock.nanoseconds()
        self._last, self._next = now, now + self._period
        tick = Duration(nanoseconds=1)
        threshold = JumpThreshold(min_forward=tick, min_backward=-tick)
        self._jump = clock.create_jump_callback(threshold, post_callback=self._on_jump)

    @property
    def callback(self) -> Callable[..., Any] | None:
        """The user's function."""
        return self._callback

    @callback.setter
    def callback(self, value: Callable[..., Any] | None) -> None:
        self._callback = value
        self._wants_info = value is not None and not _takes_nothing(value)

    @property
    def clock(self) -> Clock:
        """The clock."""
        return self._clock

    @property
    def timer_period_ns(self) -> int:
        """The period in nanoseconds."""
        return self._period

    @timer_period_ns.setter
    def timer_period_ns(self, value: int) -> None:
        self._period = int(value)
        self.notify()

    def _on_jump(self, jump: TimeJump) -> None:
        """The clock was set, which for simulated time is how it advances."""
        now = self._clock.nanoseconds()
        if now < self._last or jump.clock_change in (2, 3):
            with self._lock:
                self._last, self._next = now, now + self._period
        if now >= self._next:
            self.notify()

    def nanoseconds_left(self) -> int | None:
        """Time until the next call, None while canceled."""
        return None if self._canceled else self._next - self._clock.nanoseconds()

    def is_pending(self) -> bool:
        """True when the call is due."""
        return not self._canceled and self._clock.nanoseconds() >= self._next

    def is_ready(self) -> bool:
        """True when the call is due."""
        return self.is_pending()

    def take(self) -> Callable[[], Any] | None:
        """The callback, when the call is due; sets the time of the next one."""
        with self._lock:
            now, due = self._clock.nanoseconds(), self._next
            if self._canceled or now < due:
                return None
            self._last = now
            self._next += self._period
            if self._next < now:
                missed = (now - self._next) // self._period + 1 if self._period else 0
                self._next = self._next + missed * self._period if self._period else now
        if not self._wants_info:
            return self._callback or (lambda: None)
        info = TimerInfo(due, now, self._clock.clock_type)
        return lambda: self._callback(info) if self._callback is not None else None

    def cancel(self) -> None:
        """Stop calling."""
        self._canceled = True

    def is_canceled(self) -> bool:
        """True after `cancel`, until `reset`."""
        return self._canceled

    def reset(self) -> None:
        """Start again: the next call is one period from now."""
        with self._lock:
            now = self._clock.nanoseconds()
            self._last, self._next, self._canceled = now, now + self._period, False
        self.notify()

    def time_since_last_call(self) -> int:
        """Nanoseconds since the last call."""
        return self._clock.nanoseconds() - self._last

    def time_until_next_call(self) -> int | None:
        """Nanoseconds until the next call, None while canceled."""
        return self.nanoseconds_left()

    def destroy(self) -> None:
        """Stop for good."""
        super().destroy()
        self._canceled = True
        self._jump.unregister()


def _takes_nothing(function: Callable[..., Any]) -> bool:
    """True when a function can be called without arguments."""
    try:
        inspect.signature(function).bind()
    except TypeError:
        return False
    except ValueError:  # a built-in without a signature
        return True
    return True


class Rate:
    """Sleeps to keep a rate of a clock; the node must be spun by another thread for simulated time.

    Its timer is one of the node's, so that each tick ends a `spin_once` as in rclpy.
    """

    def __init__(self, timer: Timer, *, context: Context) -> None:
        """Make a rate; use `Node.create_rate`."""
        self._timer, self._context = timer, context
        self._clock = timer.clock
        self._next = self._clock.nanoseconds() + timer.timer_period_ns
        self._condition, self._destroyed = Condition(), False

    def sleep(self) -> None:
        """Block until the next period begins, or the rate is destroyed.

        Raises:
            ROSInterruptException: shutdown ended the sleep.
            RuntimeError: the rate was destroyed before.
        """
        if self._destroyed:
            raise RuntimeError("Rate cannot sleep because it has been destroyed")
        period = self._timer.timer_period_ns
        now = self._clock.nanoseconds()
        if not now - period < self._next <= now + period:  # late by a period or more, or the clock was set
            self._next = now + period
        until = Time(nanoseconds=self._next, clock_type=self._clock.clock_type)
        if self._context.ok():
            self._clock._sleep(until, self._context, self._condition, lambda: self._destroyed)
        if not self._context.ok():
            raise ROSInterruptException()
        self._next += period

    def destroy(self) -> None:
        """End the sleep and release the timer."""
        with self._condition:
            self._destroyed = True
            self._condition.notify_all()
        self._timer.destroy()


pass_on(__name__)
