"""How fast a bag is played, and by which keys that changes."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator

_NS = 10**9
_ANY = 2**62  # more messages than a bag holds
_LONGEST_S = 3600.0  # of one wait: the waits of Python have an end, and rates may be as small as one likes
_STEP = 0.1  # of the rate, for each press of a key


class Pace:
    """Moments of a bag in real time; other threads may pause it, step it and change its rate.

    Args:
        rate: speed, 1 as recorded.
        paused: whether to wait for `toggle` or `step` at the beginning.
    """

    def __init__(self, rate: float = 1.0, *, paused: bool = False) -> None:
        self._rate = rate
        self._paused = paused
        self._steps = 0
        self._jump: int | None = None
        self._stopped = False
        self._published = self._ends = 0
        self._changed = threading.Condition()
        self._real = self._bag = 0

    @property
    def rate(self) -> float:
        """The speed."""
        return self._rate

    @property
    def paused(self) -> bool:
        """Whether playing stands still."""
        return self._paused

    def begin(self, stamp: int) -> None:
        """Let a moment of the bag [ns] be now."""
        with self._changed:
            self._real, self._bag = time.monotonic_ns(), stamp

    @property
    def stopped(self) -> bool:
        """Whether playing has ended for good."""
        return self._stopped

    def wait(self, stamp: int, *, is_message: bool = True) -> bool:
        """Return True when a moment of the bag [ns] has come, False when it is not waited for any longer.

        A step lets one message through. A jump or the end of playing breaks the wait off.
        """
        with self._changed:
            while True:
                if self._stopped or self._jump is not None:
                    return False
                if self._paused and self._steps:
                    self._steps -= is_message
                    self._real, self._bag = time.monotonic_ns(), stamp
                    return True
                if self._paused:
                    self._changed.wait()
                    continue
                pause = self._real + (stamp - self._bag) / self._rate - time.monotonic_ns()
                if pause <= 0:
                    return True
                self._changed.wait(min(pause / _NS, _LONGEST_S))

    def toggle(self) -> None:
        """Pause, or go on."""
        with self._changed:
            self._settle()
            self._paused = not self._paused
            self._changed.notify_all()

    def pause(self, paused: bool) -> None:
        """Stand still, or go on; nothing changes where that is so already."""
        with self._changed:
            if paused != self._paused:
                self.toggle()

    def step(self) -> None:
        """Let the next message through, if playing stands still."""
        with self._changed:
            self._steps += self._paused
            self._changed.notify_all()

    def burst(self, count: int, timeout_s: float | None = None) -> int:
        """Let so many messages through at once, if playing stands still.

        Args:
            count: how many; 0: all that are left.
            timeout_s: how long to wait for them [s]; None: no limit.

        Returns:
            How many were published when all were, at the end of the bag, or when the time was over.
        """
        count = count or _ANY
        with self._changed:
            before, ends = self._published, self._ends
            if not self._paused:
                return 0
            self._steps += count
            self._changed.notify_all()

            def over() -> bool:
                broken_off = self._stopped or not self._paused or self._ends != ends
                return broken_off or self._published - before >= count

            self._changed.wait_for(over, timeout_s)
            self._steps = 0
            return self._published - before

    def published(self) -> None:
        """A message was published."""
        with self._changed:
            self._published += 1
            self._changed.notify_all()

    def end(self) -> None:
        """The bag is at its end; steps that were not taken are forgotten."""
        with self._changed:
            self._steps, self._ends = 0, self._ends + 1
            self._changed.notify_all()

    def jump(self, stamp: int) -> None:
        """Go on at another moment of the bag [ns]."""
        with self._changed:
            self._jump = stamp
            self._changed.notify_all()

    def jumped(self) -> int | None:
        """Return where to go on after a wait was broken off [ns], once; None: nowhere."""
        with self._changed:
            target, self._jump = self._jump, None
            return target

    def stop(self) -> None:
        """End playing."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def set_rate(self, rate: float) -> None:
        """Set the speed from here on, greater than 0."""
        self.scale(rate / self._rate)

    def scale(self, factor: float) -> None:
        """Change the speed from here on."""
        with self._changed:
            self._settle()
            self._rate *= factor
            self._changed.notify_all()

    def _settle(self) -> None:
        now = time.monotonic_ns()
        if not self._paused:
            self._bag += int((now - self._real) * self._rate)
        self._real = now


KEYS: dict[bytes, tuple[str, Callable[[Pace], None]]] = {
    b" ": ("SPACE: pause or go on", Pace.toggle),
    b"\x1b[C": ("CURSOR_RIGHT: play the next message while paused", Pace.step),
    b"\x1b[A": ("CURSOR_UP: 10 % faster", lambda pace: pace.scale(1 + _STEP)),
    b"\x1b[B": ("CURSOR_DOWN: 10 % slower", lambda pace: pace.scale(1 - _STEP)),
}
"""What keys do, with a line of help, by what a terminal sends for them."""


def press(pace: Pace, data: bytes) -> None:
    """Do what the keys in some bytes stand for; others mean nothing."""
    while data:
        key = next((key for key in KEYS if data.startswith(key)), None)
        if key is not None:
            KEYS[key][1](pace)
        data = data[len(key) if key is not None else 1 :]


@contextlib.contextmanager
def keyboard(pace: Pace, descriptor: int | None = None) -> Iterator[bool]:
    """Read keys from a terminal, stdin by default, in a thread; yields whether it is one.

    The terminal of a program in the background has no keys for it: to set it would stop the program.
    """
    if descriptor is None:
        descriptor = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else -1
    if descriptor < 0 or not os.isatty(descriptor) or _is_in_background(descriptor):
        yield False
        return
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    wake, end = os.pipe()
    tty.setcbreak(descriptor)

    def read() -> None:
        while wake not in select.select([descriptor, wake], [], [])[0]:
            try:
                keys = os.read(descriptor, 64)
            except OSError:
                keys = b""
            if not keys:  # the terminal has gone
                return
            press(pace, keys)

    thread = threading.Thread(target=read, name="keys", daemon=True)
    thread.start()
    try:
        yield True
    finally:
        os.close(end)
        thread.join()
        os.close(wake)
        with contextlib.suppress(termios.error):  # it has gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _is_in_background(terminal: int) -> bool:
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # not the terminal that this program was started from
        return False
