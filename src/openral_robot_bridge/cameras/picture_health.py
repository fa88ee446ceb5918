"""Health of one real camera's images: rate, age, gaps, frozen and dark images, and faults."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.types import Image
from openral_reward_monitor.camera_health import CameraHealth

WINDOW = 64
"""Number of latest images from which rate and age are computed."""
LOST_AFTER_S = 1.0
"""[s] without an image after which a camera counts as lost."""
AHEAD_S = 0.05
"""[s] by which a stamp may be later than its image's arrival, as clocks of two computers differ."""


@dataclass(frozen=True)
class FeedReport:
    """Health of a camera; see `WINDOW` for the latest images."""

    pictures: int
    """Number of images since the start."""
    rate_hz: float
    """[Hz] by the stamps of the latest images; 0 if there are fewer than two."""
    age_s: float
    """[s] median time from stamp to arrival of the latest images."""
    oldest_s: float
    """[s] largest age among them."""
    gap_s: float
    """[s] longest time between two of them, by their stamps."""
    silent_s: float
    """[s] since the last image arrived; inf: none has arrived."""
    frozen: bool
    """Whether the images do not change although the robot moves; see `CameraHealth.frozen`."""
    dark: bool
    """Whether the images are dark; see `CameraHealth.dark`."""
    size: tuple[int, int]
    """[px] width and height of the camera's images; (0, 0) before the first."""
    fault: str
    """Description of the present fault; empty: there is none."""


class PictureFeed:
    """Statistics of one camera's images; may be used from any thread."""

    def __init__(self, name: str) -> None:
        """Begin without an image of the camera of this name."""
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
        """Add an image, and return whether it may be passed on; False: its stamp is not later than the one before.

        Args:
            stamp_s: [s] wall time at which the image was taken, by the camera's clock.
            arrived_s: [s] wall time of arrival, by this computer's clock.
            image: (H, W, 3) uint8, which must not be changed afterwards.
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
        """Add the positions (n,) [rad] or [m] of the robot's joints at a stamp [s]; see `CameraHealth.joints`."""
        with self._lock:
            self._health.joints(positions, stamp_s)

    def failed(self, why: str) -> None:
        """Record why no image came, or why one could not be used."""
        with self._lock:
            self._fault = why

    def report(self, now_s: float) -> FeedReport:
        """Return the camera's health at wall time `now_s` [s]."""
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
