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

    def wait(self, stamp: int, *, is_message: bool = True) -> None:
        """Return when a moment of the bag [ns] has come; a step lets one message through."""
        with self._changed:
            while True:
                if self._paused and self._steps:
                    self._steps -= is_message
                    self._real, self._bag = time.monotonic_ns(), stamp
                    return
                if self._paused:
                    self._changed.wait()
                    continue
                pause = self._real + (stamp - self._bag) / self._rate - time.monotonic_ns()
                if pause <= 0:
                    return
                self._changed.wait(pause / _NS)

    def toggle(self) -> None:
        """Pause, or go on."""
        with self._changed:
            self._settle()
            self._paused = not self._paused
            self._changed.notify_all()

    def step(self) -> None:
        """Let the next message through, if playing stands still."""
        with self._changed:
            self._steps += self._paused
            self._changed.notify_all()

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
    """Read keys from a terminal, stdin by default, in the background; yields whether it is one."""
    if descriptor is None:
        descriptor = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else -1
    if descriptor < 0 or not os.isatty(descriptor):
        yield False
        return
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    wake, end = os.pipe()
    tty.setcbreak(descriptor)

    def read() -> None:
        while wake not in (ready := select.select([descriptor, wake], [], [])[0]):
            if ready:
                press(pace, os.read(descriptor, 64))

    thread = threading.Thread(target=read, name="keys", daemon=True)
    thread.start()
    try:
        yield True
    finally:
        os.close(end)
        thread.join()
        os.close(wake)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
