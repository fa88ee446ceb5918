"""The frames of one attempt: what is kept, what is shown to the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.types import Image

_RATE_SLACK = 0.05
"""Share of the full rate's period by which a frame may come early and still be kept: stamps are multiples of dt."""


@dataclass(frozen=True)
class WatchedGoal:
    """One goal being tried."""

    goal_id: str
    instruction: str
    resumed: int = 0
    """How often an operator has taken the arm from it and given it back; its readings before that tell no trend."""


IDLE = WatchedGoal("", "")
"""Before the first goal."""


@dataclass(frozen=True)
class Selection:
    """Frames chosen for one scoring."""

    attempt: WatchedGoal
    stamps_s: NDArray[np.float64]
    """(T,) [s] clock of the bridge, rising."""
    pictures: Sequence[Image]
    """T of (H, W, 3) uint8 RGB, oldest first; the last is the newest there is."""
    frames_seen: int
    """Frames in the window before the choice."""
    camera: str = ""
    """Which camera they are of."""
    frozen: bool = False
    """The robot moves and the picture does not."""
    dark: bool = False
    """The newest frame is too dark to be judged."""

    @property
    def frames(self) -> NDArray[np.uint8]:
        """(T, H, W, 3), a copy; made where it is needed, since many a choice is not scored."""
        return np.stack(self.pictures)


class FrameWindow:
    """Frames of one camera at a steady rate: of the running attempt from its first frame on, else of the last seconds.

    Memory is bounded: when the frames of an attempt fill the room, every second one goes and the rate is halved.
    """

    def __init__(
        self, frame_window_s: float, target_fps: float, max_scored: int = 8, camera: str = ""
    ) -> None:
        """Make an empty window.

        Args:
            frame_window_s: [s] how long frames are kept at the full rate; without an attempt, how far back.
            target_fps: [Hz] rate at which frames are kept.
            max_scored: frames shown to the model in one scoring, at least 2.
            camera: whose frames they are.
        """
        self._window_s = frame_window_s
        self._base_period_s = self._period_s = 1.0 / target_fps
        # Even, so that the newest frame is among those that stay when the room is full.
        self._room = 2 * max(2, math.ceil(frame_window_s * target_fps / 2))
        self._max_scored = max(2, max_scored)
        self._camera = camera
        self._frames: list[tuple[float, Image]] = []
        self._newest: tuple[float, Image] | None = None
        self.attempt = IDLE
        """The attempt whose frames these are; after its end, until the next one begins, the last one."""
        self.running = False
        """Whether that attempt goes on."""

    def begin(self, attempt: WatchedGoal) -> None:
        """Forget the frames of the attempt before; the newest frame seen so far is the first of this one."""
        self.attempt, self.running = attempt, True
        self._period_s = self._base_period_s
        self._frames = [self._newest] if self._newest is not None else []

    def clear(self) -> None:
        """Forget every frame; the attempt goes on."""
        self._frames, self._newest = [], None
        self._period_s = self._base_period_s

    def end(self) -> None:
        """The attempt is over: its frames leave the window one by one."""
        self.running = False
        self._period_s = self._base_period_s

    def add(self, stamp_s: float, frame: Image) -> bool:
        """Take a frame; return False for one whose stamp does not rise, which is dropped.

        Args:
            stamp_s: [s] clock of the bridge.
            frame: (H, W, 3) uint8 RGB; not copied, so it must not be written to afterwards.
        """
        if self._newest is not None and stamp_s <= self._newest[0]:
            return False
        self._newest = (stamp_s, frame)
        due_s = self._period_s - _RATE_SLACK * self._base_period_s
        if not self._frames or stamp_s - self._frames[-1][0] >= due_s:
            self._frames.append(self._newest)
            self._make_room(stamp_s)
        return True

    def _make_room(self, stamp_s: float) -> None:
        if not self.running:
            self._frames = [entry for entry in self._frames if stamp_s - entry[0] <= self._window_s]
        elif len(self._frames) > self._room:
            self._frames = self._frames[::2]  # keeps the first, at which progress began
            self._period_s *= 2

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest_s(self) -> float | None:
        """[s] stamp of the newest frame, None without one."""
        return self._newest[0] if self._newest is not None else None

    def select(self, window_s: float = 0.0) -> Selection | None:
        """Choose frames, evenly spread, the newest always among them; None without a frame.

        Args:
            window_s: [s] how far to look back from the newest frame; <= 0: the whole attempt.
        """
        if self._newest is None:
            return None
        oldest = self._newest[0] - window_s if window_s > 0 else -np.inf
        inside = [entry for entry in self._frames if entry[0] >= oldest]
        if not inside or inside[-1][0] < self._newest[0]:
            inside.append(self._newest)
        count = min(len(inside), self._max_scored)
        chosen = [inside[index] for index in np.linspace(len(inside) - 1, 0, count).round().astype(int)[::-1]]
        return Selection(
            attempt=self.attempt,
            stamps_s=np.array([stamp for stamp, _ in chosen]),
            pictures=[frame for _, frame in chosen],
            frames_seen=len(inside),
            camera=self._camera,
        )
