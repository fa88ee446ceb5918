"""The frames of one attempt: which are kept, and which are scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.types import Image
from openral_reward_monitor.camera_views import JointFrame

MOST_FRAMES = 512
"""Most frames that a window keeps, whatever length and rate a manifest gives it; even."""
_RATE_SLACK = 0.05
"""Share of the full rate's period by which a frame may be early and still be kept, since stamps are multiples of dt."""


@dataclass(frozen=True)
class WatchedGoal:
    """One running goal, or the standing task (with an empty id)."""

    goal_id: str
    instruction: str
    resumed: int = 0
    """Times that an operator has taken over the arm and given it back; earlier readings do not count for the trend."""


IDLE = WatchedGoal("", "")
"""Stands for no goal, before the first one."""


@dataclass(frozen=True)
class Selection:
    """Frames chosen for one scoring."""

    attempt: WatchedGoal
    stamps_s: NDArray[np.float64]
    """(T,) [s] on the bridge's clock, rising."""
    pictures: Sequence[JointFrame]
    """T frames, oldest first; the last is the camera's newest frame."""
    frames_seen: int
    """Number of frames from which these were chosen."""
    camera: str = ""
    """Name of their camera."""
    frozen: bool = False
    """Whether the frames do not change although the robot moves."""
    dark: bool = False
    """Whether the newest frame is too dark to be scored."""

    @property
    def frames(self) -> NDArray[np.uint8]:
        """(T, H, W, 3) uint8: a copy of the frames, made at each access, since many selections are never scored."""
        return np.stack([frame.image for frame in self.pictures])


class FrameWindow:
    """Keeps frames of one camera at a steady rate: of the running attempt all of it, else of the last seconds.

    Memory is bounded: when the frames of an attempt exceed it, every second one is dropped and the rate is halved.
    """

    def __init__(
        self, frame_window_s: float, target_fps: float, max_scored: int = 8, camera: str = ""
    ) -> None:
        """Make an empty window.

        Args:
            frame_window_s: [s] for which frames are kept at the full rate; without an attempt, their greatest age.
            target_fps: [Hz] full rate at which frames are kept.
            max_scored: most frames in one scoring, at least 2.
            camera: name of the camera.
        """
        self._window_s = frame_window_s
        self._base_period_s = self._period_s = 1.0 / target_fps
        # Even, so that the newest frame is kept when every second one is dropped.
        self._room = 2 * max(2, math.ceil(min(frame_window_s * target_fps, MOST_FRAMES) / 2))
        self._max_scored = max(2, max_scored)
        self._camera = camera
        self._frames: list[tuple[float, JointFrame]] = []
        self._newest: tuple[float, JointFrame] | None = None
        self.attempt = IDLE
        """Attempt of these frames; after its end it stays until the next one begins."""
        self.running = False
        """Whether that attempt is running."""

    def begin(self, attempt: WatchedGoal) -> None:
        """Begin an attempt: drop all frames but the newest, which is the attempt's first."""
        self.attempt, self.running = attempt, True
        self._period_s = self._base_period_s
        self._frames = [self._newest] if self._newest is not None else []

    def clear(self) -> None:
        """Drop every frame; the attempt stays the same."""
        self._frames, self._newest = [], None
        self._period_s = self._base_period_s

    def end(self) -> None:
        """End the attempt; its frames are then dropped by their age."""
        self.running = False
        self._period_s = self._base_period_s

    def add(self, stamp_s: float, *views: Image) -> bool:
        """Take a frame; return False for one whose stamp does not rise, which is dropped.

        Args:
            stamp_s: [s] on the bridge's clock.
            views: the pictures (H, W, 3) uint8 RGB that make the frame, one for each camera of the view, from left to
                right; not copied, so they must not be written to afterwards.
        """
        if self._newest is not None and stamp_s <= self._newest[0]:
            return False
        self._newest = (stamp_s, JointFrame(views))
        due_s = self._period_s - _RATE_SLACK * self._base_period_s
        if not self._frames or stamp_s - self._frames[-1][0] >= due_s:
            self._frames.append(self._newest)
            self._make_room(stamp_s)
        return True

    def _make_room(self, stamp_s: float) -> None:
        if not self.running:
            young = [entry for entry in self._frames if stamp_s - entry[0] <= self._window_s]
            self._frames = young[-MOST_FRAMES:]
        elif len(self._frames) > self._room:
            self._frames = self._frames[::2]  # keeps the attempt's first frame
            self._period_s *= 2

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest_s(self) -> float | None:
        """[s] stamp of the newest frame; None: there is none."""
        return self._newest[0] if self._newest is not None else None

    def select(self, window_s: float = 0.0) -> Selection | None:
        """Choose at most `max_scored` frames, evenly spread, the newest included; return None if there is no frame.

        Args:
            window_s: [s] greatest age relative to the newest frame; <= 0: the whole attempt.
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
