"""The Franka Hand, which answers when its fingers rest: threads wait for it, so that the arm need not.

One thread reads, another one commands: a stop was seen to return only when the fingers rested, and their width is read
meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from openral_robot_bridge.drivers.libfranka_faults import words_of

TOLERANCE_M = 0.08
"""[m] a grasp counts at whatever width it ends: the fingers press what is between them."""
READ_S = 0.02
"""[s] between two readings of the width."""


class FrankaHand:
    """Newest width and newest command of one hand; all calls return at once."""

    def __init__(self, hand: Any) -> None:
        """Take a connected gripper with the names of franky-control's, and begin to read it."""
        self._hand = hand
        self.max_width_m = float(hand.max_width)
        """[m] between the open fingers."""
        self.width_m = float(hand.width)
        """[m] at the last reading."""
        self.lost = ""
        """Why the hand cannot be read any more, in libfranka's words; empty: it can. A hand that was silent for a
        second is given up by libfranka, and must be connected anew."""
        self._wanted: tuple[float, float, float] | None = None
        self._task: Any = None
        self._asked, self._closed = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=run, name="hand", daemon=True) for run in (self._read, self._act)
        ]
        for thread in self._threads:
            thread.start()

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Lead the fingers to a width; a command that is not yet begun is replaced."""
        self._wanted = (width_m, speed_m_s, force_n)
        self._asked.set()

    def close(self) -> None:
        """End what the fingers do, and leave the hand as it is."""
        self._closed.set()
        self._asked.set()
        for thread in self._threads:
            thread.join(1.0)
        if self._task is not None:
            # A silent hand never answers.
            ending = threading.Thread(target=self._end, name="hand", daemon=True)
            ending.start()
            ending.join(1.0)

    def _end(self) -> None:
        """End the last command: franky's own thread must not outlive the hand."""
        with contextlib.suppress(Exception):
            self._hand.stop()
            self._task.get()
        self._task = None

    def _read(self) -> None:
        while not self._closed.wait(READ_S):
            try:
                self.width_m = float(self._hand.width)
            except Exception as error:  # noqa: BLE001  clients raise kinds of their own, which all mean this
                self.lost = words_of(error)
                return

    # A command that fails shows in a width that does not change; a hand that is lost, in `lost`.

    def _act(self) -> None:
        while self._asked.wait() and not self._closed.is_set():
            self._asked.clear()
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                with contextlib.suppress(Exception):
                    self._begin(*wanted)

    def _begin(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        if self._task is not None:
            self._hand.stop()
            with contextlib.suppress(Exception):  # an aborted command ends with an error
                self._task.get()
        if width_m < self.width_m:
            self._task = self._hand.grasp_async(width_m, speed_m_s, force_n, TOLERANCE_M, TOLERANCE_M)
        else:
            self._task = self._hand.move_async(width_m, speed_m_s)
