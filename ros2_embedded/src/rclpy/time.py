"""A point in time of one kind of clock."""

from __future__ import annotations

from typing import Any, overload

from builtin_interfaces.msg import Time as TimeMsg

from rclpy.clock_type import ClockType
from rclpy.duration import S_TO_NS, Duration
from rclpy.passed_on import pass_on

CONVERSION_CONSTANT = S_TO_NS
_LIMIT = 2**63


class Time:
    """A point in time: nanoseconds since the epoch of its clock. Times of different clocks do not mix."""

    __slots__ = ("_clock_type", "_nanoseconds")

    def __init__(
        self, *, seconds: float = 0, nanoseconds: float = 0, clock_type: ClockType = ClockType.SYSTEM_TIME
    ) -> None:
        """Sum seconds and nanoseconds.

        Raises:
            TypeError: the clock type is no `ClockType`.
            ValueError: a negative part.
            OverflowError: more than int64 nanoseconds.
        """
        if not isinstance(clock_type, ClockType):
            raise TypeError("Clock type must be a ClockType enum")
        if seconds < 0:
            raise ValueError("Seconds value must not be negative")
        if nanoseconds < 0:
            raise ValueError("Nanoseconds value must not be negative")
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if total >= _LIMIT:
            raise OverflowError("Total nanoseconds value is too large to store in C time point.")
        self._nanoseconds, self._clock_type = total, clock_type

    @property
    def nanoseconds(self) -> int:
        """Nanoseconds since the clock's epoch."""
        return self._nanoseconds

    @property
    def clock_type(self) -> ClockType:
        """The kind of clock."""
        return self._clock_type

    def seconds_nanoseconds(self) -> tuple[int, int]:
        """Whole seconds and the nanoseconds left."""
        return divmod(self._nanoseconds, S_TO_NS)

    def to_msg(self) -> Any:
        """As `builtin_interfaces/msg/Time`."""
        seconds, nanoseconds = self.seconds_nanoseconds()
        return TimeMsg(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, msg: Any, clock_type: ClockType = ClockType.ROS_TIME) -> Time:
        """From `builtin_interfaces/msg/Time`.

        Raises:
            TypeError: another message.
        """
        if not isinstance(msg, TimeMsg):
            raise TypeError("Must pass a builtin_interfaces.msg.Time object")
        return cls(nanoseconds=msg.sec * S_TO_NS + msg.nanosec, clock_type=clock_type)

    def __repr__(self) -> str:
        return f"Time(nanoseconds={self._nanoseconds}, clock_type={self._clock_type.name})"

    def __hash__(self) -> int:
        return hash((self._nanoseconds, self._clock_type))

    def __add__(self, other: object) -> Time:
        if not isinstance(other, Duration):
            return NotImplemented
        return Time(nanoseconds=self._nanoseconds + other.nanoseconds, clock_type=self._clock_type)

    __radd__ = __add__

    @overload
    def __sub__(self, other: Time) -> Duration: ...
    @overload
    def __sub__(self, other: Duration) -> Time: ...
    def __sub__(self, other: object) -> Time | Duration:
        if isinstance(other, Time):
            self._same_clock(other, "Can't subtract times with different clock types")
            return Duration(nanoseconds=self._nanoseconds - other._nanoseconds)
        if isinstance(other, Duration):
            return Time(nanoseconds=self._nanoseconds - other.nanoseconds, clock_type=self._clock_type)
        return NotImplemented

    def _same_clock(
        self, other: Time, reason: str = "Can't compare times with different clock types"
    ) -> None:
        if self._clock_type != other._clock_type:
            raise TypeError(reason)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other)
        return self._nanoseconds == other._nanoseconds

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other)
        return self._nanoseconds < other._nanoseconds

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other)
        return self._nanoseconds <= other._nanoseconds

    def __gt__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other)
        return self._nanoseconds > other._nanoseconds

    def __ge__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same_clock(other)
        return self._nanoseconds >= other._nanoseconds


pass_on(__name__)
