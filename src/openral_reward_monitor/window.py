"""The frames of one attempt: what is kept, what is shown to the model."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.types import Image

_RATE_SLACK = 0.05
"""Share of the frame period by which a frame may come early and still be kept: stamps are multiples of dt."""


@dataclass(frozen=True)
class Attempt:
    """One goal being tried."""

    goal_id: str
    instruction: str


@dataclass(frozen=True)
class Selection:
    """Frames chosen for one scoring."""

    attempt: Attempt
    stamps_s: NDArray[np.float64]
    """(T,) [s] clock of the bridge, rising."""
    frames: NDArray[np.uint8]
    """(T, H, W, 3) uint8 RGB, oldest first; the last is the newest there is."""
    frames_seen: int
    """Frames in the window before the choice."""


class FrameWindow:
    """Ring of frames of the running attempt, thinned out to a steady rate."""

    def __init__(self, frame_window_s: float, target_fps: float, max_scored: int = 8) -> None:
        """Make an empty window.

        Args:
            frame_window_s: [s] how far back frames are kept, counted from the newest.
            target_fps: [Hz] rate at which frames are kept.
            max_scored: frames shown to the model in one scoring, at least 2.
        """
        self._window_s = frame_window_s
        self._period_s = (1.0 - _RATE_SLACK) / target_fps
        self._max_scored = max(2, max_scored)
        self._frames: deque[tuple[float, Image]] = deque()
        self._waiting: tuple[float, Image] | None = None
        self.attempt: Attempt | None = None
        """The attempt whose frames these are; kept after its end, until the next one begins."""

    def begin(self, attempt: Attempt) -> None:
        """Forget the frames of the attempt before; the newest frame seen so far is the first of this one."""
        self.attempt = attempt
        self._frames.clear()
        if self._waiting is not None:
            self._frames.append(self._waiting)

    def add(self, stamp_s: float, frame: Image) -> bool:
        """Take a frame; return whether it was kept. Stamps that do not rise are dropped.

        Args:
            stamp_s: [s] clock of the bridge.
            frame: (H, W, 3) uint8 RGB; not copied, so it must not be written to afterwards.
        """
        if self._waiting is not None and stamp_s <= self._waiting[0]:
            return False
        self._waiting = (stamp_s, frame)
        if self.attempt is None or (self._frames and stamp_s - self._frames[-1][0] < self._period_s):
            return False
        self._frames.append((stamp_s, frame))
        while self._frames[-1][0] - self._frames[0][0] > self._window_s:
            self._frames.popleft()
        return True

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest_s(self) -> float | None:
        """[s] stamp of the newest frame kept, None without one."""
        return self._frames[-1][0] if self._frames else None

    def select(self, window_s: float = 0.0) -> Selection | None:
        """Choose frames, evenly spread, the newest always among them; None without an attempt or a frame.

        Args:
            window_s: [s] how far to look back from the newest frame; <= 0: the whole attempt.
        """
        if self.attempt is None or not self._frames:
            return None
        oldest = self._frames[-1][0] - window_s if window_s > 0 else -np.inf
        inside = [entry for entry in self._frames if entry[0] >= oldest]
        count = min(len(inside), self._max_scored)
        chosen = [inside[index] for index in np.linspace(len(inside) - 1, 0, count).round().astype(int)[::-1]]
        return Selection(
            attempt=self.attempt,
            stamps_s=np.array([stamp for stamp, _ in chosen]),
            frames=np.stack([frame for _, frame in chosen]),
            frames_seen=len(inside),
        )
