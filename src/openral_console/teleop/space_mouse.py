"""A SpaceMouse at the machine of the console, read in a thread of its own.

Its cap is its dead man: deflected it moves the arm, let go it does not. A deflected cap reports all the time, so each
report is a proof of life, and a deflection counts for `SILENT_S` and no longer. Whatever happens to cable, device or
thread, the arm then holds by the end of its chunk: `SILENT_S` and `teleop.steering.HORIZON_S` together are less than
0.3 s. A page that has the arm must ask for the deflection all the while, which is the other proof of life.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from openral_console.teleop.space_mouse_device import SpaceMouseDevice, SpaceMouseError, SpaceMouseReport

PERIOD_S = 0.01
"""[s] between two reads of the device."""
SILENT_S = 0.1
"""[s] that a deflection counts after it was reported; the slowest products report every 16 ms
(https://andunhh.github.io/spacemouse/SpaceMouseWireless.html)."""
GONE_S = 1.0
"""[s] of silence or of a hang after which the cap must be let go before it counts again."""
REST_S = 0.1
"""[s] without a deflection after which the cap counts as let go."""
RETRY_S = 0.5
"""[s] between two attempts to open a device that is not there."""
JOIN_S = 1.0
"""[s] that the thread has to end; one that hangs in a driver ends with the process."""
DEAD_ZONE = 0.12
"""Deflection, 0..1, up to which an axis counts as 0, since a hand that pushes along another axis causes as much."""
AXES = ("x", "y", "z", "turn")
REST = SpaceMouseReport()


class SpaceMouse:
    """Methods may be called from any thread; none waits for the device."""

    def __init__(
        self,
        open_device: Callable[[], SpaceMouseDevice],
        stop: Callable[[], str],
        say: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to read.

        Args:
            open_device: opens it, again and again until it is there; raises SpaceMouseError while it is not.
            stop: latches the emergency stop and returns why it could not, or nothing; called in a thread of its own.
            say: takes a line when the device came, went or failed.
            clock: [s] monotonic.
        """
        self._open_device, self._stop, self._say, self._clock = open_device, stop, say, clock
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.name = "SpaceMouse"
        """Of the product, once one was opened."""
        self.presses = 0
        """Times that the button of the fingers was pressed since the beginning."""
        self.stop_fault = ""
        """Why the newest press of the stop button was in vain; empty: it was not."""
        self.error: SpaceMouseError | None = SpaceMouseError("the SpaceMouse was not looked for yet")
        """Why it cannot be read; None: it can."""
        self._report, self._may_move = REST, False
        self._reported_s = self._looked_s = self._rests_since_s = clock()
        self._thread = threading.Thread(target=self._run, name="SpaceMouse", daemon=True)
        self._thread.start()

    @property
    def fault(self) -> str:
        """Why the cap moves nothing, or would not if it were pressed; empty: it does, or would."""
        with self._lock:
            return self._why_not()

    def deflection(self) -> SpaceMouseReport:
        """Return how far the cap is deflected beyond its dead zone; all zero where that does not count."""
        with self._lock:
            seen = REST if self._why_not() else self._report
        x, y, z, turn = (_beyond_dead_zone(getattr(seen, axis)) for axis in AXES)
        return replace(seen, x=x, y=y, z=z, turn=turn)

    def demand_rest(self) -> None:
        """Let the cap count only after it was let go, as when somebody takes the arm."""
        with self._lock:
            self._may_move = False

    def close(self) -> None:
        """End."""
        self._closing.set()
        self._thread.join(JOIN_S)

    def _why_not(self) -> str:
        now_s = self._clock()
        if self.error is not None:
            return str(self.error)
        if now_s - self._looked_s > SILENT_S:
            self._may_move &= now_s - self._looked_s <= GONE_S
            return f"the {self.name} is not read: its driver does not return"
        if _at_rest(self._report):
            self._may_move |= now_s - self._rests_since_s >= REST_S
            return ""
        if now_s - self._reported_s > SILENT_S:
            self._may_move &= now_s - self._reported_s <= GONE_S
            return f"the {self.name} fell silent while its cap was pressed"
        return "" if self._may_move else f"let go of the cap of the {self.name} first"

    # -- the thread ----------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                device = self._open_device()
                try:
                    self._begin(device)
                    while not self._closing.wait(PERIOD_S):
                        self._take_all(device)
                finally:
                    device.close()
            except SpaceMouseError as error:
                self._fail(error)
            # A driver may raise anything; a thread that ends unseen would leave a page that says that all is well.
            except Exception as error:  # noqa: BLE001
                self._fail(SpaceMouseError(f"the SpaceMouse failed: {type(error).__name__}: {error}"))
            self._closing.wait(RETRY_S)

    def _begin(self, device: SpaceMouseDevice) -> None:
        with self._lock:
            self.name, self.error = device.name, None
            self._report, self._may_move = REST, False
            self._reported_s = self._looked_s = self._rests_since_s = self._clock()
        self._say(f"{device.name} is there")

    def _fail(self, error: SpaceMouseError) -> None:
        with self._lock:
            news = str(error) != str(self.error)
            self.error = error
        if news:
            self._say(str(error))

    def _take_all(self, device: SpaceMouseDevice) -> None:
        while not self._closing.is_set():
            report = device.read()
            with self._lock:
                now_s = self._clock()
                self._may_move &= now_s - self._looked_s <= GONE_S
                self._looked_s = now_s
            if report is None:
                return
            self._take(report)

    def _take(self, report: SpaceMouseReport) -> None:
        with self._lock:
            before, now_s = self._report, self._clock()
            if not _at_rest(before):
                self._may_move &= now_s - self._reported_s <= GONE_S
                self._rests_since_s = now_s
            elif now_s - self._rests_since_s >= REST_S:
                self._may_move = True
            self._report, self._reported_s = report, now_s
            self.presses += report.fingers and not before.fingers
        if report.stop and not before.stop:
            threading.Thread(target=self._press_stop, name="SpaceMouse stop", daemon=True).start()

    def _press_stop(self) -> None:
        self.stop_fault = self._stop()


def _at_rest(report: SpaceMouseReport) -> bool:
    return all(abs(getattr(report, axis)) <= DEAD_ZONE for axis in AXES)


def _beyond_dead_zone(value: float) -> float:
    """Return a deflection of -1..1 that begins with 0 at the end of the dead zone."""
    size = max(0.0, min(abs(value), 1.0) - DEAD_ZONE) / (1.0 - DEAD_ZONE)
    return size if value > 0 else -size
