"""Lockstep: the twin's time advances only on request, for trials on a busy or slow machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

BREATH_S = 0.3
"""[s] after which a motion without requests gets one cycle, since libfranka's timeout for a state is 1 s."""
BEGIN_S = 10.0
"""[s] timeout of the start of a motion by the client."""


class Lockstep:
    """Lets the cycles of a motion wait for requests; without a motion, time advances by itself."""

    words = "wait on, wait off, run N"

    def __init__(self, is_moved: Callable[[], bool], say: Callable[[str], None]) -> None:
        """Begin without lockstep.

        Args:
            is_moved: returns whether a motion of the client is running.
            say: prints the answer to `run N` when its cycles have passed.
        """
        self._is_moved, self._say = is_moved, say
        self._heard = threading.Event()
        self._waits = self._runs = self._began = False
        self._left, self._due = 0, 0.0

    def wake(self) -> None:
        """End the wait of `before`, as a command has come; may be called from any thread."""
        self._heard.set()

    def hears(self, words: list[str]) -> bool | None:
        """Execute a command about lockstep.

        Returns:
            None: it is another command; True: it is answered later; False: it is to be answered now.
        """
        if words in (["wait", "on"], ["wait", "off"]):
            self._waits, self._began = words[1] == "on", False
            return False
        if len(words) == 2 and words[0] == "run" and words[1].isdigit():
            self._runs = True
            self._began |= self._is_moved()  # once begun, a motion that ends is not waited for again
            self._left, self._due = int(words[1]), time.monotonic() + BEGIN_S
            return True
        return None

    def before(self) -> bool:
        """Wait until the next cycle may run; return whether it may, False: a command has come meanwhile."""
        if not self._waits or not self._is_moved():
            return True
        if self._left or not self._heard.wait(BREATH_S):
            return True
        self._heard.clear()
        return False

    def after(self) -> None:
        """Count a cycle, and answer `run N` when all its cycles have passed, or the motion has ended."""
        if not self._runs:
            return
        moved = self._is_moved()
        self._left -= moved and self._left > 0
        self._began |= moved
        if not self._left or (self._began and not moved) or (not moved and time.monotonic() > self._due):
            self._runs, self._left = False, 0
            self._say("moving" if moved else "at rest")
