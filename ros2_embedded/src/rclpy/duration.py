"""A signed span of time."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Duration as DurationMsg

from rclpy.passed_on import pass_on

S_TO_NS = 1_000_000_000
_LIMIT = 2**63


class Duration:
    """A span of time in nanoseconds, within the range of int64."""

    __slots__ = ("_nanoseconds",)

    def __init__(self, *, seconds: float = 0, nanoseconds: float = 0) -> None:
        """Sum both arguments.

        Raises:
            OverflowError: more than int64 nanoseconds.
        """
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if not -_LIMIT <= total < _LIMIT:
            raise OverflowError("Total nanoseconds value is too large to store in C duration.")
        self._nanoseconds = total

    @property
    def nanoseconds(self) -> int:
        """The span in nanoseconds."""
        return self._nanoseconds

    def to_msg(self) -> Any:
        """As `builtin_interfaces/msg/Duration`."""
        seconds, nanoseconds = divmod(self._nanoseconds, S_TO_NS)
        return DurationMsg(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, msg: Any) -> Duration:
        """From `builtin_interfaces/msg/Duration`.

        Raises:
            TypeError: another message.
        """
        if not isinstance(msg, DurationMsg):
            raise TypeError("Must pass a builtin_interfaces.msg.Duration object")
        return cls(nanoseconds=msg.sec * S_TO_NS + msg.nanosec)

    def __repr__(self) -> str:
        return f"Duration(nanoseconds={self._nanoseconds})"

    def __str__(self) -> str:
        return "Infinite" if self == Infinite else f"{self._nanoseconds} nanoseconds"

    def __hash__(self) -> int:
        return hash(self._nanoseconds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds == other._nanoseconds

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds < other._nanoseconds

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Duration):
            return NotImplemented
        return self._nanoseconds <= other._nanoseconds

    def __neg__(self) -> Duration:
        return Duration(nanoseconds=-self._nanoseconds)

    def __add__(self, other: object) -> Duration:
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration(nanoseconds=self._nanoseconds + other._nanoseconds)

    def __sub__(self, other: object) -> Duration:
        if not isinstance(other, Duration):
            return NotImplemented
        return Duration(nanoseconds=self._nanoseconds - other._nanoseconds)

    def __mul__(self, factor: float) -> Duration:
        return Duration(nanoseconds=self._nanoseconds * factor)


# An endless span, as QoS profiles have it.
Infinite = Duration(nanoseconds=_LIMIT - 1)

pass_on(__name__)
