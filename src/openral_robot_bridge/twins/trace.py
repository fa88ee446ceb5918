"""Records the motion of a twin's arm in each cycle to a file, such as to measure stops."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from openral_core.errors import SimulationError
from openral_robot_bridge.twins.arm import TwinArm, Vector


class MotionTrace:
    """Keeps a row of 180 bytes for each cycle in memory until it is saved; a minute at 1 kHz takes 11 MB."""

    def __init__(self, path: Path) -> None:
        """Begin an empty trace, and write it once to check the file.

        Raises:
            SimulationError: the file cannot be written.
        """
        self._path = path
        self._stamps: list[float] = []
        self._rows: list[tuple[Vector, Vector, Vector]] = []
        self.save()

    def note(self, arm: TwinArm) -> None:
        """Add the present state of the arm."""
        self._stamps.append(time.monotonic())
        self._rows.append((arm.positions, arm.velocities, arm.accelerations))

    def save(self) -> None:
        """Write the trace as .npz, for T cycles of n joints.

        It has `stamps` (T,) [s] monotonic, and `positions` [rad], `velocities` [rad/s] and `accelerations` [rad/s²],
        each (T, n).

        Raises:
            SimulationError: the file cannot be written.
        """
        fields = zip(*self._rows, strict=True) if self._rows else ((), (), ())
        positions, velocities, accelerations = (np.array(field) for field in fields)
        try:
            with self._path.open("wb") as file:
                np.savez(
                    file,
                    stamps=np.array(self._stamps),
                    positions=positions,
                    velocities=velocities,
                    accelerations=accelerations,
                )
        except OSError as error:
            raise SimulationError(f"{self._path} cannot be written: {error.strerror}") from error


class TraceKeeper:
    """The commands `trace FILE` and `trace end` of a twin."""

    words = "trace FILE, trace end"

    def __init__(self) -> None:
        self._trace: MotionTrace | None = None

    def note(self, arm: TwinArm) -> None:
        """Add the present state of the arm, if a trace is being recorded."""
        if self._trace is not None:
            self._trace.note(arm)

    def obey(self, words: list[str], usage: str) -> str:
        """Execute a command about traces; return an error message, or an empty text.

        Args:
            words: of the command.
            usage: message to return for other commands.
        """
        if len(words) != 2 or words[0] != "trace":
            return usage
        try:
            if words[1] != "end":
                self._trace = MotionTrace(Path(words[1]))
            elif self._trace is not None:
                self._trace.save()
                self._trace = None
        except SimulationError as error:
            return str(error)
        return ""
