"""From scores to a reading: present values, trends per second, stalled, succeeded, or neither to be said."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from openral_core.manifest import Reward
from openral_reward_monitor.models.calibration import Calibration, joint_score
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.window import Attempt, Selection

_COVERED = 0.9
"""Share of the plateau window that readings must span before an attempt can count as stalled."""
_LEAST = 3
"""Readings that an attempt needs before it can."""


@dataclass(frozen=True)
class Reading:
    """How far an attempt got, at the stamp of its newest scored frame."""

    attempt: Attempt
    task: str
    """The words it was scored against."""
    camera: str
    stamps_s: NDArray[np.float64] = field(repr=False, compare=False)
    """(T,) [s] clock of the bridge, of the frames that were scored."""
    scores: RewardScores = field(repr=False, compare=False)
    """T of them; where the camera is calibrated, success is the probability that the task is done."""
    calibrated: bool
    stalled: bool
    succeeded: bool
    abstained: bool
    """Neither yes nor no is to be said."""
    frozen: bool
    dark: bool
    remark: str
    """Why it abstained."""
    frames_seen: int
    latency_s: float
    """[s] wall time of the scoring."""

    @property
    def stamp_s(self) -> float:
        """[s] clock of the bridge, newest frame scored."""
        return float(self.stamps_s[-1])

    @property
    def progress(self) -> float:
        """0..1"""
        return float(self.scores.progress[-1])

    @property
    def success(self) -> float:
        """0..1"""
        return float(self.scores.success[-1])

    @property
    def progress_trend(self) -> float:
        """[1/s]"""
        return slope_per_second(self.stamps_s, self.scores.progress)

    @property
    def success_trend(self) -> float:
        """[1/s]"""
        return slope_per_second(self.stamps_s, self.scores.success)

    @property
    def frames_scored(self) -> int:
        """Frames that were scored."""
        return len(self.stamps_s)

    def over(self, window_s: float) -> Reading:
        """Return the same reading with trends over the last `window_s` [s] only; <= 0: over all of it."""
        if window_s <= 0:
            return self
        inside = self.stamps_s >= self.stamp_s - window_s
        scores = RewardScores(self.scores.progress[inside], self.scores.success[inside])
        return replace(self, stamps_s=self.stamps_s[inside], scores=scores)


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

    def __init__(self, reward: Reward, calibration: Calibration | None = None) -> None:
        """Begin without a history.

        Args:
            reward: thresholds of the manifest.
            calibration: what the scores mean; None: the raw scores count, on any camera.
        """
        self._reward = reward
        self._calibration = calibration
        self._watched: tuple[Attempt, str] | None = None
        self._history: deque[tuple[float, float]] = deque()

    def make(
        self, selection: Selection, task: str, scores: RewardScores, latency_s: float, watched: bool = True
    ) -> Reading:
        """Return the reading of one scoring.

        Args:
            selection: the T frames that were scored.
            task: the words they were scored against.
            scores: T checked scores, as the model gave them.
            latency_s: [s] wall time of the scoring.
            watched: part of the steady watch over the attempt, whose history it joins; else an answer to a question.
        """
        joint, threshold = joint_score(scores), self._reward.success_threshold
        camera = self._calibration.cameras.get(selection.camera) if self._calibration else None
        score = float(joint[-1])
        done = camera.is_done(score, threshold) if camera else score >= threshold
        remark = self._doubt(selection, score, done)
        if camera:
            scores = RewardScores(scores.progress, camera.probability(joint))
        succeeded = done is True and not remark
        if watched:
            self._remember(selection, float(scores.progress[-1]))
        flat = self._is_flat(selection, task)
        return Reading(
            attempt=selection.attempt,
            task=task,
            camera=selection.camera,
            stamps_s=selection.stamps_s,
            scores=scores,
            calibrated=camera is not None,
            stalled=flat and not succeeded and not remark,
            succeeded=succeeded,
            abstained=bool(remark),
            frozen=selection.frozen,
            dark=selection.dark,
            remark=remark,
            frames_seen=selection.frames_seen,
            latency_s=latency_s,
        )

    def _doubt(self, selection: Selection, score: float, done: bool | None) -> str:
        """Return why nothing is to be said, nothing where something is."""
        if selection.dark:
            return f"the picture of camera {selection.camera} is too dark"
        if selection.frozen:
            return f"the picture of camera {selection.camera} is frozen: the robot moved and it did not"
        if self._calibration is not None and selection.camera not in self._calibration.cameras:
            known = ", ".join(sorted(self._calibration.cameras)) or "none"
            return f"the model is not calibrated for camera {selection.camera}, but for {known}"
        if done is None:
            return f"the score {score:.2f} is seen of tasks that are done and of such that are not"
        return ""

    def _remember(self, selection: Selection, progress: float) -> None:
        """Add a progress to the history of the running attempt, as that camera sees it."""
        stamp_s = float(selection.stamps_s[-1])
        anew = bool(self._history) and stamp_s < self._history[-1][0]  # the clock began again
        if anew or self._watched != (selection.attempt, selection.camera):
            self._watched = (selection.attempt, selection.camera)
            self._history.clear()
        if not (selection.frozen or selection.dark) and (not self._history or stamp_s > self._history[-1][0]):
            self._history.append((stamp_s, progress))
        # What is left spans the window, whatever the rate: one reading from before it stays.
        window_s = self._reward.plateau_window_s
        while len(self._history) > _LEAST and stamp_s - self._history[1][0] >= window_s:
            self._history.popleft()

    def _is_flat(self, selection: Selection, task: str) -> bool:
        """Whether progress stayed within the tolerance for the whole plateau window of the running attempt."""
        if self._watched != (selection.attempt, selection.camera) or task != selection.attempt.instruction:
            return False
        window_s = self._reward.plateau_window_s
        if len(self._history) < _LEAST or self._history[-1][0] - self._history[0][0] < _COVERED * window_s:
            return False
        values = [value for _, value in self._history]
        return max(values) - min(values) <= self._reward.plateau_tolerance
