"""From scores to a reading: present values, trends per second, stalled, succeeded, or neither to be said."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from openral_core.manifest import Reward
from openral_core.progress_judgement import (
    Progress,
    ProgressReading,
    ProgressThresholds,
    assess,
    slope_per_second,
)
from openral_reward_monitor.models.calibration import Calibration, joint_score
from openral_reward_monitor.models.reward_model import RewardScores
from openral_reward_monitor.window import Selection, WatchedGoal

KEPT_READINGS = 512
"""Newest readings of an attempt that are kept; a mission keeps as many."""


@dataclass(frozen=True)
class Reading:
    """How far an attempt got, at the stamp of its newest scored frame."""

    attempt: WatchedGoal
    task: str
    """The words it was scored against."""
    camera: str
    stamps_s: NDArray[np.float64] = field(repr=False, compare=False)
    """(T,) [s] clock of the bridge, of the frames that were scored."""
    scores: RewardScores = field(repr=False, compare=False)
    """T of them; where the camera is calibrated, success is the probability that the task is done."""
    threshold: float
    """0..1, what the score must reach for this reading to say done."""
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


class ReadingMaker:
    """Turns scores into readings and remembers those of the running attempt, to tell when it stalls."""

    def __init__(self, reward: Reward, calibration: Calibration | None = None) -> None:
        """Begin without a history.

        Args:
            reward: thresholds of the manifest.
            calibration: what the scores mean; None: the raw scores count, on any camera.
        """
        self._thresholds = ProgressThresholds.from_reward(reward.model_dump())
        self._calibration = calibration
        self._watched: tuple[WatchedGoal, str] | None = None
        self._history: deque[ProgressReading] = deque(maxlen=KEPT_READINGS)

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
        joint = joint_score(scores)
        camera = self._calibration.cameras.get(selection.camera) if self._calibration else None
        score = float(joint[-1])
        uncertain = camera is not None and camera.is_done(score, self._thresholds.success_threshold) is None
        remark = self._doubt(selection, score, uncertain)
        if camera:
            scores = RewardScores(scores.progress, camera.probability(joint))
        stamp_s, progress, success = (
            float(values[-1]) for values in (selection.stamps_s, scores.progress, scores.success)
        )
        now = ProgressReading(stamp_s, progress, success, camera is not None, bool(remark), remark)
        if watched:
            self._remember(selection, now)
        succeeded, stalled = self._judged(selection, task, now)
        return Reading(
            attempt=selection.attempt,
            task=task,
            camera=selection.camera,
            stamps_s=selection.stamps_s,
            scores=scores,
            threshold=self._thresholds.success_threshold,
            calibrated=now.calibrated,
            stalled=stalled,
            succeeded=succeeded,
            abstained=now.abstained,
            frozen=selection.frozen,
            dark=selection.dark,
            remark=remark,
            frames_seen=selection.frames_seen,
            latency_s=latency_s,
        )

    def _judged(self, selection: Selection, task: str, now: ProgressReading) -> tuple[bool, bool]:
        """Return whether the task counts as done, and whether the attempt stands still.

        The running attempt is judged by its history; words that nobody watches for have only this one reading.
        """
        if self._watched != (selection.attempt, selection.camera) or task != selection.attempt.instruction:
            return now.says_done(self._thresholds), False
        stands = assess(self._history, self._thresholds).progress
        return stands is Progress.SUCCEEDED, stands is Progress.STANDSTILL

    def _doubt(self, selection: Selection, score: float, uncertain: bool) -> str:
        """Return why nothing is to be said, nothing where something is."""
        if selection.dark:
            return f"the picture of camera {selection.camera} is too dark"
        if selection.frozen:
            return f"the picture of camera {selection.camera} is frozen: the robot moved and it did not"
        if self._calibration is not None and selection.camera not in self._calibration.cameras:
            known = ", ".join(sorted(self._calibration.cameras)) or "none"
            return f"the model is not calibrated for camera {selection.camera}, but for {known}"
        if uncertain:
            return f"the score {score:.2f} is seen of tasks that are done and of such that are not"
        return ""

    def _remember(self, selection: Selection, now: ProgressReading) -> None:
        """Add a reading to the history of the running attempt, as that camera sees it."""
        began_again = bool(self._history) and now.stamp_s < self._history[-1].stamp_s  # the clock did
        if began_again or self._watched != (selection.attempt, selection.camera):
            self._watched = (selection.attempt, selection.camera)
            self._history.clear()
        if not self._history or now.stamp_s > self._history[-1].stamp_s:
            self._history.append(now)
