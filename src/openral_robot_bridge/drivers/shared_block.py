"""Shared memory between a driver and a process of its libfranka client, with lock-free access (a sequence lock).

Each half has one writer and one reader. The writer never waits, and increments a count before and after it writes. If
the count is odd or changes during a copy, the reader uses its former copy; only for its first copy it waits. It does
not retry later ones, as libfranka's thread has the highest priority, so that the waiting reader would keep the writer
from running.
"""

from __future__ import annotations

import mmap
import os
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
JOINTS = 7
FIRST_TRIES, FIRST_TRY_S = 100, 0.001
"""Largest number of attempts at a first copy while the writer writes, and [s] between two of them."""
_WORDS = 400
_TARGET = [
    ("count", "<u8"),
    ("stamp", "<f8"),
    ("motion", "<u8"),
    ("is_wanted", "?"),
    ("q", "<f8", (JOINTS,)),
    ("dq", "<f8", (JOINTS,)),
]
_STATE = [
    ("count", "<u8"),
    ("stamp", "<f8"),
    ("begun", "<u8"),
    ("ended", "<u8"),
    ("why", f"S{_WORDS}"),
    ("q", "<f8", (JOINTS,)),
    ("dq", "<f8", (JOINTS,)),
    ("external", "<f8", (JOINTS,)),
    ("mode", "u1"),
    ("faults", f"S{_WORDS}"),
    ("success_rate", "<f8"),
    ("cycles", "<u8"),
    ("missed", "<u8"),
    ("width", "<f8"),
]
_LAYOUT = np.dtype([("target", np.dtype(_TARGET, align=True)), ("state", np.dtype(_STATE, align=True))])


class SharedBlock:
    """The driver's targets and the client's state; both sides map the same file."""

    def __init__(self, file: int = -1) -> None:
        """Map the file of a descriptor; -1: create an anonymous file, whose descriptor is `self.file`."""
        self._owns = file < 0
        self.file = os.memfd_create("openral-franka") if self._owns else file
        """Descriptor, to be inherited by the client's process."""
        if self._owns:
            os.ftruncate(self.file, _LAYOUT.itemsize)
        self._block: Any = np.frombuffer(mmap.mmap(self.file, _LAYOUT.itemsize), _LAYOUT)
        self._whole: dict[str, np.void] = {
            half: np.zeros(1, _LAYOUT[half])[0] for half in ("target", "state")
        }

    def tell(self, motion: int, wanted: bool, positions: Vector, velocities: Vector) -> None:
        """Write the driver's half.

        Args:
            motion: number of the motion; the client begins a new motion when it changes.
            wanted: whether the motion shall continue; if not, the client brings the joints to rest.
            positions: (7,) [rad] target of the joints.
            velocities: (7,) [rad/s] at the target.
        """
        self._write(
            "target",
            stamp=time.monotonic(),
            motion=motion,
            is_wanted=wanted,
            q=positions,
            dq=velocities,
        )

    def say(self, **fields: Any) -> None:
        """Write fields of the client's half, with the present time as its stamp."""
        self._write("state", stamp=time.monotonic(), **fields)

    def target(self) -> np.void:
        """Return the driver's half; `stamp` is its monotonic time [s], 0 before the first."""
        return self._read("target")

    def state(self) -> np.void:
        """Return the client's half; `stamp` is its monotonic time [s], 0 before the first."""
        return self._read("state")

    def close(self) -> None:
        """Close the descriptor, if it was created by this object."""
        if self._owns:
            os.close(self.file)
            self._owns = False

    def _write(self, name: str, **fields: Any) -> None:
        half = self._block[name]
        half["count"] += 1
        for field, value in fields.items():
            half[field] = value
        half["count"] += 1

    def _read(self, half: str) -> np.void:
        for _ in range(FIRST_TRIES):
            before = int(self._block[half]["count"][0])
            copy: np.void = self._block[half][0].copy()
            if before % 2 == 0 and before == int(self._block[half]["count"][0]):
                self._whole[half] = copy
                break
            if self._whole[half]["count"]:
                break
            time.sleep(FIRST_TRY_S)
        return self._whole[half]
