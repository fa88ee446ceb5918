"""What comes from one real camera: rate, age, gaps, frozen and dark pictures, and what is wrong with it."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.types import Image
from openral_reward_monitor.camera_health import CameraHealth

WINDOW = 64
"""Pictures over which rate and age are told."""
LOST_AFTER_S = 1.0
"""[s] without a picture after which a camera counts as gone."""
AHEAD_S = 0.05
"""[s] by which a stamp may be later than its picture's arrival: clocks of two computers are never quite the same."""


@dataclass(frozen=True)
class FeedReport:
    """How a camera is doing."""

    pictures: int
    """Since the start."""
    rate_hz: float
    """[Hz] by the stamps of the last pictures; 0 before two."""
    age_s: float
    """[s] from stamp to arrival, the median of the last pictures."""
    oldest_s: float
    """[s] the greatest age among them."""
    gap_s: float
    """[s] the longest time between two of them, by their stamps."""
    silent_s: float
    """[s] since the last one arrived; inf: none ever did."""
    frozen: bool
    dark: bool
    size: tuple[int, int]
    """[px] width and height of the pictures as they come; (0, 0) before the first."""
    fault: str
    """What is wrong, in words; empty: nothing is."""


class PictureFeed:
    """Keeps account of one camera's pictures. May be used from any thread."""

    def __init__(self, name: str) -> None:
        """Begin with no picture of the camera of this name."""
        self.name = name
        self._lock = threading.Lock()
        self._health = CameraHealth()
        self._stamps: deque[float] = deque(maxlen=WINDOW)
        self._ages: deque[float] = deque(maxlen=WINDOW)
        self._pictures = 0
        self._arrived_s = float("-inf")
        self._size = (0, 0)
        self._fault = ""

    def picture(self, stamp_s: float, arrived_s: float, image: Image) -> bool:
        """Take a picture; False: its stamp does not rise, or is of another clock, and it is not to be passed on.

        Args:
            stamp_s: [s] wall time at which it was taken, by the camera.
            arrived_s: [s] wall time now.
            image: (H, W, 3) uint8, not written to afterwards.
        """
        with self._lock:
            last_s = self._stamps[-1] if self._stamps else float("-inf")
            self._arrived_s = arrived_s
            self._size = (image.shape[1], image.shape[0])
            if stamp_s <= last_s <= arrived_s + AHEAD_S:
                self._fault = "the stamps of its pictures do not rise"
                return False
            self._fault = ""
            self._pictures += 1
            if stamp_s < last_s:  # the camera's clock was set back
                self._stamps.clear()
                self._ages.clear()
            self._stamps.append(stamp_s)
            self._ages.append(arrived_s - stamp_s)
            self._health.frame(stamp_s, image)
            if stamp_s > arrived_s + AHEAD_S:
                ahead_s = stamp_s - arrived_s
                self._fault = f"its pictures are stamped {ahead_s:.2f} s ahead of this computer's clock"
            return True

    def joints(self, positions: NDArray[np.float64], stamp_s: float) -> None:
        """Take where the robot's joints are, [rad] or [m], at a stamp [s]; see `CameraHealth.joints`."""
        with self._lock:
            self._health.joints(positions, stamp_s)

    def failed(self, why: str) -> None:
        """Note why no picture came, or why one could not be used."""
        with self._lock:
            self._fault = why

    def report(self, now_s: float) -> FeedReport:
        """Return how the camera is doing, at wall time `now_s` [s]."""
        with self._lock:
            stamps, ages = np.array(self._stamps), np.array(self._ages)
            gaps = np.diff(stamps)
            silent_s = now_s - self._arrived_s
            fault = self._fault
            if not fault and silent_s > LOST_AFTER_S:
                fault = "no picture has come" if not self._pictures else f"no picture for {silent_s:.1f} s"
            return FeedReport(
                self._pictures,
                float(len(gaps) / gaps.sum()) if len(gaps) else 0.0,
                float(np.median(ages)) if len(ages) else 0.0,
                float(ages.max()) if len(ages) else 0.0,
                float(gaps.max()) if len(gaps) else 0.0,
                silent_s,
                self._health.frozen,
                self._health.dark,
                self._size,
                fault,
            )
