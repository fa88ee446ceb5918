"""A SpaceMouse Compact on faked USB: the reports that the product sends, at its rate."""

from __future__ import annotations

import struct
import threading
from pathlib import Path

RATE_S = 0.008
"""[s] between two reports of a deflected cap."""
FULL = 350
"""Deflection of the cap at its end."""
LEFT, RIGHT = 1, 2
"""Bits of the buttons."""
FAKE_USB = Path(__file__).parent / "fake_usb"


class Compact:
    """Writes reports in the axes of USB: x to the right, y towards the operator, z down, rz clockwise from above."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reports = (folder / "reports").open("ab", buffering=0)
        self._pressed: tuple[int, int, int, int] | None = None
        self._lock, self._closing = threading.Lock(), threading.Event()
        self.plug_in()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        self._reports.close()

    def plug_in(self) -> None:
        (self.folder / "plugged").touch()

    def pull_out(self) -> None:
        """As with a real one, the cap is at rest when it is plugged in again."""
        with self._lock:
            self._pressed = None
            (self.folder / "plugged").unlink()

    def hang(self) -> None:
        (self.folder / "hang").touch()

    def resume(self) -> None:
        (self.folder / "hang").unlink()

    def press(self, x: int = 0, y: int = 0, z: int = 0, rz: int = 0) -> None:
        """Deflect the cap, until it is let go."""
        with self._lock:
            self._pressed = (x, y, z, rz)

    def let_go(self) -> None:
        with self._lock:
            self._pressed = None
            for _ in range(3):
                self._report(0, 0, 0, 0)

    def fall_silent(self) -> None:
        with self._lock:
            self._pressed = None

    def click(self, button: int) -> None:
        """Press a button and release it before anybody can have read that it was pressed."""
        with self._lock:
            self._reports.write(bytes([3, button, 0, 0, 0, 0, 0]) + bytes([3, 0, 0, 0, 0, 0, 0]))

    def _report(self, x: int, y: int, z: int, rz: int) -> None:
        self._reports.write(struct.pack("<B3h", 1, x, y, z) + struct.pack("<B3h", 2, 0, 0, rz))

    def _run(self) -> None:
        while not self._closing.wait(RATE_S):
            with self._lock:
                if self._pressed is not None:
                    self._report(*self._pressed)
