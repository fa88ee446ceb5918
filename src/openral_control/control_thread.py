"""A control loop that other threads start, pause and finish, with its diagnostics."""

from __future__ import annotations

from abc import ABC, abstractmethod

from openral_control.chunk_executor import ChunkExecutor
from openral_control.control_loop import ControlLoop, LoopSettings
from openral_core.scene import DeployScene

SLOW = 0.9
"""Fraction of the wanted control rate below which the diagnostics warn."""
SET_BACK_S = 0.1
"""[s] by which stamps are ahead of the clock, beyond two control steps, from which on it counts as set back."""
OK, WARN, ERROR = b"\x00", b"\x01", b"\x02"
"""Levels of diagnostic_msgs/DiagnosticStatus."""


class ControlRun(ABC):
    """A control loop with its arm. Create it and call `live` in one thread, the other methods in other threads."""

    def __init__(
        self, scene: DeployScene, executor: ChunkExecutor, loop: ControlLoop, settings: LoopSettings
    ) -> None:
        """Take the control loop of a scene's arm, with its settings; it stands by until `start`."""
        self.scene, self.executor, self.loop, self.settings = scene, executor, loop, settings
        self._running = self._finished = False

    @abstractmethod
    def describe(self) -> str:
        """Return one line that describes the arm and its control."""

    @abstractmethod
    def _close(self) -> None:
        """Release the arm; called once, in the loop's thread."""

    @property
    def stopped_by(self) -> str:
        """Name of the check that keeps the arm from moving; empty: none."""
        return ""

    def live(self) -> None:
        """Step the arm while it is started, until `finish`; then release it.

        Raises:
            OpenralError: the arm or the simulator failed.
        """
        try:
            while not self._finished:
                self.loop.stand_by(lambda: self._running or self._finished)
                if not self._finished:
                    self.loop.run(lambda: self._running and not self._finished)
        finally:
            self.loop.close()
            self._close()

    def start(self) -> None:
        """Start or resume the control steps."""
        self._switch(running=True)

    def pause(self) -> None:
        """Stop after the present control step."""
        self._switch(running=False)

    def finish(self) -> None:
        """End `live`."""
        self._switch(running=False, finished=True)

    def stop(self) -> None:
        """Latch the emergency stop: the arm holds until `release`."""
        self.executor.stop()

    def release(self) -> None:
        """Release the emergency stop. Chunks that came before it are not executed, not even by a paused loop."""
        self.loop.forget_chunks()
        self.executor.release()

    def health(self) -> tuple[bytes, str, dict[str, str]]:
        """Return level, summary and values for `/diagnostics`."""
        counters, executor = self.executor.counters, self.executor
        values = {
            "mode": self.settings.mode,
            "effective_hz": f"{self.loop.effective_hz:.1f}",
            "late_steps": str(self.loop.late_steps),
            "executed": str(counters.executed),
            "held": str(counters.held),
            "rejected": str(counters.rejected),
            "expired": str(counters.expired),
            "active_goal": executor.active_goal,
            "last_rejection": executor.last_rejection,
        }
        wanted = self.scene.control_hz * self.settings.real_time_factor
        if executor.estopped:
            return ERROR, "emergency stop is latched; call the service estop_reset", values
        ahead_s = self.loop.ahead_s
        if ahead_s > SET_BACK_S + 2.0 * self.scene.dt:
            what = f"stamps are {ahead_s:.1f} s ahead of this computer's clock, which was set back"
            return WARN, f"{what}; start the deployment again", values
        if executor.last_rejection:
            return WARN, f"last chunk refused: {executor.last_rejection}", values
        if self.settings.mode == "realtime" and 0 < self.loop.effective_hz < SLOW * wanted:
            return WARN, f"runs at {self.loop.effective_hz:.1f} Hz, {wanted:.1f} Hz wanted", values
        return OK, "running" if self._running else "paused", values

    def _switch(self, *, running: bool, finished: bool = False) -> None:
        self._running, self._finished = running, self._finished or finished
        self.loop.wake()
