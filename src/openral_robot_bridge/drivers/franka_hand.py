"""The Franka Hand, whose commands return only when its fingers are at rest, so that threads wait for them.

One thread reads the width and another one commands, as even a stop may return only when the fingers are at rest.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from openral_robot_bridge.drivers.libfranka_faults import words_of

TOLERANCE_M = 0.08
"""[m] tolerance of the width of a grasp; it is the whole range, so that a grasp holds an object of any width."""
READ_S = 0.02
"""[s] between two readings of the width."""


class FrankaHand:
    """Latest width and latest command of one hand; no call but `close` waits for the hand."""

    def __init__(self, hand: Any) -> None:
        """Begin to read a connected gripper that has the interface of franky-control's."""
        self._hand = hand
        self.max_width_m = float(hand.max_width)
        """[m] between the open fingers."""
        self.width_m = float(hand.width)
        """[m] at the last reading."""
        self.lost = ""
        """Reason why the hand cannot be read any more, with libfranka's message; empty: it can.

        After a second without an answer, libfranka ends the connection, and the hand must be reconnected."""
        self._wanted: tuple[float, float, float] | None = None
        self._task: Any = None
        self._asked, self._closed = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=run, name="hand", daemon=True) for run in (self._read, self._act)
        ]
        for thread in self._threads:
            thread.start()

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Move the fingers to a width [m]; this replaces a command that has not begun."""
        self._wanted = (width_m, speed_m_s, force_n)
        self._asked.set()

    def close(self) -> None:
        """End the motion of the fingers and the threads; the hand stays as it is."""
        self._closed.set()
        self._asked.set()
        for thread in self._threads:
            thread.join(1.0)
        if self._task is not None:
            # A hand that does not answer would block here.
            ending = threading.Thread(target=self._end, name="hand", daemon=True)
            ending.start()
            ending.join(1.0)

    def _end(self) -> None:
        """End the last command, as franky's own thread must not outlive the hand."""
        with contextlib.suppress(Exception):
            self._hand.stop()
            self._task.get()
        self._task = None

    def _read(self) -> None:
        while not self._closed.wait(READ_S):
            try:
                self.width_m = float(self._hand.width)
            except Exception as error:  # noqa: BLE001  clients have exceptions of their own
                self.lost = words_of(error)
                return

    # Errors of commands are ignored: a failed one shows as a width that does not change, and a lost hand in `lost`.

    def _act(self) -> None:
        while self._asked.wait() and not self._closed.is_set():
            self._asked.clear()
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                with contextlib.suppress(Exception):
                    self._begin(*wanted)

    def _begin(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        if self._task is not None:
            with contextlib.suppress(Exception):  # one that cannot be stopped is waited for
                self._hand.stop()
            with contextlib.suppress(Exception):  # an aborted command ends with an error
                self._task.get()
        if width_m < self.width_m:
            self._task = self._hand.grasp_async(width_m, speed_m_s, force_n, TOLERANCE_M, TOLERANCE_M)
        else:
            self._task = self._hand.move_async(width_m, speed_m_s)
