"""What a twin's arm did, cycle by cycle, in a file: for those who measure stops."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from openral_core.errors import SimulationError
from openral_robot_bridge.twins.arm import TwinArm, Vector


class MotionTrace:
    """Keeps a row for each cycle until it is saved; 180 bytes each, so that a minute takes 11 MB."""

    def __init__(self, path: Path) -> None:
        """Take the file, which ends in .npz.

        Raises:
            SimulationError: it cannot be written.
        """
        self._path = path
        self._stamps: list[float] = []
        self._rows: list[tuple[Vector, Vector, Vector]] = []
        self.save()

    def note(self, arm: TwinArm) -> None:
        """Keep what the arm does now."""
        self._stamps.append(time.monotonic())
        self._rows.append((arm.positions, arm.velocities, arm.accelerations))

    def save(self) -> None:
        """Write `stamps` (T,) [s] monotonic, `positions`, `velocities` and `accelerations` (T, n) in radians.

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
    """The words `trace FILE` and `trace end` of a twin."""

    words = "trace FILE, trace end"

    def __init__(self) -> None:
        self._trace: MotionTrace | None = None

    def note(self, arm: TwinArm) -> None:
        """Keep what the arm does now, if somebody wants to know."""
        if self._trace is not None:
            self._trace.note(arm)

    def obey(self, words: list[str], usage: str) -> str:
        """Do what a line's words say about traces; return why not, or nothing.

        Args:
            words: of the line.
            usage: the answer to words that are about something else.
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
