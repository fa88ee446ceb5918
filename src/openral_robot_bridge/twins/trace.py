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
