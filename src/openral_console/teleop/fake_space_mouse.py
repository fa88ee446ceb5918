"""A SpaceMouse without any: a test says what is pressed, and what befalls the device."""

from __future__ import annotations

import threading
from collections import deque

from openral_console.teleop.space_mouse_device import SpaceMouseError, SpaceMouseReport


class FakeSpaceMouse:
    """Plugged in from the beginning; `open` is what a `SpaceMouse` opens. Its methods may be called from any thread."""

    name = "Fake SpaceMouse"

    def __init__(self) -> None:
        self.plugged = True
        self.error: Exception | None = None
        """Raised by the next `read`, in the place of an answer."""
        self.opened = 0
        """Times that it was opened."""
        self.reads = 0
        """Times that it was read."""
        self.hangs = False
        """A `read` does not return just now."""
        self._pressed: SpaceMouseReport | None = None
        self._waiting: deque[SpaceMouseReport] = deque()
        self._flowing = threading.Event()
        self._flowing.set()
        self._is_turn = False

    def open(self) -> FakeSpaceMouse:
        """Return the device. Raises SpaceMouseError: it is not plugged in."""
        if not self.plugged:
            raise SpaceMouseError("no SpaceMouse is plugged in")
        self.opened += 1
        return self

    def press(self, report: SpaceMouseReport) -> None:
        """Press the cap, which reports until it is let go."""
        self._pressed = report

    def let_go(self) -> None:
        """Let the cap go, which reports that once and is silent then."""
        self._pressed = None
        self._waiting.append(SpaceMouseReport())

    def fall_silent(self) -> None:
        """Report nothing more, and not that the cap was let go."""
        self._pressed = None

    def report(self, *reports: SpaceMouseReport) -> None:
        """Report something once."""
        self._waiting.extend(reports)

    def hang(self) -> None:
        """Have `read` not return until `resume`."""
        self._flowing.clear()

    def resume(self) -> None:
        """End a hang."""
        self._flowing.set()

    def read(self) -> SpaceMouseReport | None:
        """Return what is reported. Raises SpaceMouseError: it was pulled out."""
        if not self._flowing.is_set():
            self.hangs = True
            self._flowing.wait()
            self.hangs = False
        self.reads += 1
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        if not self.plugged:
            raise SpaceMouseError("the SpaceMouse was pulled out")
        if self._waiting:
            return self._waiting.popleft()
        # Each second look finds something, so that a reader which takes all that waits comes to an end.
        self._is_turn = not self._is_turn
        return self._pressed if self._is_turn else None

    def close(self) -> None:
        """Nothing is held."""
