"""`throttle_duration_sec`, `skip_first` and `once` of log calls: what one place in a program remembers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rclpy.clock import Clock

_OPTIONS = ("throttle_duration_sec", "throttle_time_source_type", "skip_first", "once")


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """The filter options that are in force.

    Raises:
        TypeError: an unknown option, or a clock without a duration.
    """
    for key in options:
        if key not in _OPTIONS:
            raise TypeError(
                f"parameter {key!r} is not one of the recognized logging options {', '.join(_OPTIONS)}"
            )
    active = {key: value for key, value in options.items() if value}
    if "throttle_time_source_type" in active and "throttle_duration_sec" not in active:
        raise TypeError("required parameter 'throttle_duration_sec' not specified but is needed to throttle")
    return active


class CallSite:
    """A log call in the program: name, severity and filters stay what they were at its first execution."""

    __slots__ = ("_calls", "_done", "_last", "name", "options", "severity")

    def __init__(self, name: str, severity: int, options: dict[str, Any]) -> None:
        """Remember the first execution."""
        self.name, self.severity, self.options = name, severity, options
        self._calls, self._last, self._done = 0, 0, False

    def check(self, name: str, severity: int, options: dict[str, Any]) -> None:
        """Compare another execution.

        Raises:
            ValueError: something differs; a state kept for one kind of call has no sense for another.
        """
        if severity != self.severity:
            raise ValueError("Logger severity cannot be changed between calls.")
        if name != self.name:
            raise ValueError("Logger name cannot be changed between calls.")
        if options != self.options:
            raise ValueError("Logging filter parameters cannot be changed between calls.")

    def admit(self) -> bool:
        """Whether this execution shall be written: first throttle, then skip_first, then once."""
        if not self.options:
            return True
        if "throttle_duration_sec" in self.options and not self._throttle():
            return False
        self._calls += 1
        if "skip_first" in self.options and self._calls == 1:
            return False
        if "once" in self.options:
            first, self._done = not self._done, True
            return first
        return True

    def _throttle(self) -> bool:
        clock: Clock | None = self.options.get("throttle_time_source_type")
        now = time.time_ns() if clock is None else clock.nanoseconds()
        if now < self._last:  # the clock was set back
            self._last = 0
        if now < self._last + self.options["throttle_duration_sec"] * 1e9:
            return False
        self._last = now
        return True
