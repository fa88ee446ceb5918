"""From scores to a reading: present values, trends per second, stalled or succeeded."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.manifest import Reward
from openral_reward_monitor.models import RewardScores
from openral_reward_monitor.window import Attempt, Selection

_COVERED = 0.9
"""Share of the plateau window that readings must span before an attempt can count as stalled."""


@dataclass(frozen=True)
class Reading:
    """How far an attempt got, at the stamp of its newest scored frame."""

    attempt: Attempt
    task: str
    """The words it was scored against."""
    stamp_s: float
    """[s] clock of the bridge."""
    progress: float
    """0..1"""
    success: float
    """0..1"""
    progress_trend: float
    """[1/s]"""
    success_trend: float
    """[1/s]"""
    stalled: bool
    succeeded: bool
    frames_seen: int
    frames_scored: int
    latency_s: float
    """[s] wall time of the scoring."""


def slope_per_second(stamps_s: NDArray[np.float64], values: NDArray[np.float32]) -> float:
    """Return the least-squares slope [1/s] of (T,) values over (T,) stamps; 0 for fewer than two instants.

    The ordinary estimate sum((t - mean t)(y - mean y)) / sum((t - mean t)^2), so that neither the number of frames
    nor uneven spacing changes its unit.
    """
    if len(stamps_s) < 2:
        return 0.0
    centred = stamps_s - stamps_s.mean()
    spread = float(centred @ centred)
    return float(centred @ (values - values.mean())) / spread if spread > 0.0 else 0.0


class ReadingMaker:
    """Turns scores into readings and remembers those of the running attempt, to tell when it stalls."""

    def __init__(self, reward: Reward) -> None:
        self._reward = reward
        self._attempt: Attempt | None = None
        self._history: deque[tuple[float, float]] = deque()

    def make(self, selection: Selection, task: str, scores: RewardScores, latency_s: float) -> Reading:
        """Return the reading of one scoring.

        Args:
            selection: the T frames that were scored.
            task: the words they were scored against.
            scores: T checked scores.
            latency_s: [s] wall time of the scoring.
        """
        progress, success = float(scores.progress[-1]), float(scores.success[-1])
        succeeded = success >= self._reward.success_threshold
        stamp_s = float(selection.stamps_s[-1])
        stalled = self._stalled(selection.attempt, task, stamp_s, progress) and not succeeded
        return Reading(
            attempt=selection.attempt,
            task=task,
            stamp_s=stamp_s,
            progress=progress,
            success=success,
            progress_trend=slope_per_second(selection.stamps_s, scores.progress),
            success_trend=slope_per_second(selection.stamps_s, scores.success),
            stalled=stalled,
            succeeded=succeeded,
            frames_seen=selection.frames_seen,
            frames_scored=len(selection.stamps_s),
            latency_s=latency_s,
        )

    def _stalled(self, attempt: Attempt, task: str, stamp_s: float, progress: float) -> bool:
        """Whether progress stayed within the tolerance for the whole plateau window of the running attempt."""
        if attempt != self._attempt:
            self._attempt = attempt
            self._history.clear()
        if task == attempt.instruction and (not self._history or stamp_s > self._history[-1][0]):
            self._history.append((stamp_s, progress))
        window_s = self._reward.plateau_window_s
        while self._history and stamp_s - self._history[0][0] > window_s:
            self._history.popleft()
        if len(self._history) < 3 or self._history[-1][0] - self._history[0][0] < _COVERED * window_s:
            return False
        values = [value for _, value in self._history]
        return max(values) - min(values) <= self._reward.plateau_tolerance
