"""The twin's time, where it passes only as somebody asks for it: for trials on a machine that is busy or slow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

BREATH_S = 0.3
"""[s] after which a motion that nobody asks a cycle for gets one: libfranka gives up a controller silent for 1 s."""
BEGIN_S = 10.0
"""[s] that a client has to begin a motion."""


class Lockstep:
    """Cycles of a motion that wait to be asked for; while nothing moves, time passes by itself."""

    words = "wait on, wait off, run N"

    def __init__(self, is_moved: Callable[[], bool], say: Callable[[str], None]) -> None:
        """Take whether a motion of the client goes on, and what answers `run N` when its cycles have passed."""
        self._is_moved, self._say = is_moved, say
        self._heard = threading.Event()
        self._waits = self._runs = self._began = False
        self._left, self._due = 0, 0.0

    def wake(self) -> None:
        """Look anew at what was said; may be called from any thread."""
        self._heard.set()

    def hears(self, words: list[str]) -> bool | None:
        """Do what a line's words say; None: they are about something else, True: they are answered later."""
        if words in (["wait", "on"], ["wait", "off"]):
            self._waits = words[1] == "on"
            return False
        if len(words) == 2 and words[0] == "run" and words[1].isdigit():
            self._runs, self._began = True, self._is_moved()
            self._left, self._due = int(words[1]), time.monotonic() + BEGIN_S
            return True
        return None

    def before(self) -> bool:
        """Wait for the next cycle; tell whether it may pass, or something was said meanwhile."""
        if not self._waits or not self._is_moved():
            return True
        if self._left or not self._heard.wait(BREATH_S):
            return True
        self._heard.clear()
        return False

    def after(self) -> None:
        """Count a cycle, and answer when all have passed, or the motion ended."""
        if not self._runs:
            return
        moved = self._is_moved()
        self._left -= moved and self._left > 0
        self._began |= moved
        if not self._left or (self._began and not moved) or (not moved and time.monotonic() > self._due):
            self._runs, self._left = False, 0
            self._say("moving" if moved else "at rest")
