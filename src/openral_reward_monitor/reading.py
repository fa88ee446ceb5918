"""Turns scores into readings: present values, trends per second, and whether the task stalls or has succeeded."""

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
"""Most readings of an attempt that are kept, the newest; a mission keeps as many."""


@dataclass(frozen=True)
class Reading:
    """Progress of an attempt at the stamp of its newest scored frame."""

    attempt: WatchedGoal
    task: str
    """Task that was scored, in words."""
    camera: str
    stamps_s: NDArray[np.float64] = field(repr=False, compare=False)
    """(T,) [s] on the bridge's clock: stamps of the scored frames."""
    scores: RewardScores = field(repr=False, compare=False)
    """Scores of these T frames; if the camera is calibrated, success is the probability that the task is done."""
    threshold: float
    """0..1: least success for which the task counts as done."""
    calibrated: bool
    stalled: bool
    succeeded: bool
    abstained: bool
    """Whether the reading says neither that the task is done nor that it is not."""
    frozen: bool
    dark: bool
    remark: str
    """Why it abstained; empty: it did not."""
    frames_seen: int
    latency_s: float
    """[s] wall time of the scoring."""

    @property
    def stamp_s(self) -> float:
        """[s] on the bridge's clock: stamp of the newest scored frame."""
        return float(self.stamps_s[-1])

    @property
    def progress(self) -> float:
        """Progress at the newest scored frame, 0..1."""
        return float(self.scores.progress[-1])

    @property
    def success(self) -> float:
        """Success at the newest scored frame, 0..1."""
        return float(self.scores.success[-1])

    @property
    def progress_trend(self) -> float:
        """[1/s] slope of progress over the scored frames."""
        return slope_per_second(self.stamps_s, self.scores.progress)

    @property
    def success_trend(self) -> float:
        """[1/s] slope of success over the scored frames."""
        return slope_per_second(self.stamps_s, self.scores.success)

    @property
    def frames_scored(self) -> int:
        """Number of scored frames."""
        return len(self.stamps_s)

    def over(self, window_s: float) -> Reading:
        """Return the same reading with trends over the last `window_s` [s] only; <= 0: over all of it."""
        if window_s <= 0:
            return self
        inside = self.stamps_s >= self.stamp_s - window_s
        scores = RewardScores(self.scores.progress[inside], self.scores.success[inside])
        return replace(self, stamps_s=self.stamps_s[inside], scores=scores)


class ReadingMaker:
    """Turns scores into readings, and keeps those of the running attempt to detect when it stalls."""

    def __init__(self, reward: Reward, calibration: Calibration | None = None) -> None:
        """Begin without a history.

        Args:
            reward: section of the manifest, with the thresholds.
            calibration: of the scores; None: the raw scores are used, on any camera.
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
            selection: the T scored frames.
            task: the task that they were scored for, in words.
            scores: T checked raw scores.
            latency_s: [s] wall time of the scoring.
            watched: whether it is a continuous scoring, which joins the attempt's history; else it answers a request.
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
        succeeded, stalled = self._judged(selection, task, now, watched)
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

    def _judged(
        self, selection: Selection, task: str, now: ProgressReading, watched: bool
    ) -> tuple[bool, bool]:
        """Return whether the task counts as done, and whether the attempt stalls.

        The running attempt is judged by its history, and for a request by the part of it that leads to this reading.
        Another task is judged only by this reading, without stalling, and so is an attempt that was scored last too
        long before: it has ended, and the world may be another one.
        """
        if self._watched != (selection.attempt, selection.camera) or task != selection.attempt.instruction:
            return now.says_done(self._thresholds), False
        history = list(self._history)
        if not watched:
            history = [reading for reading in history if reading.stamp_s < now.stamp_s]
            if history and now.stamp_s - history[-1].stamp_s > self._thresholds.stale_after_s:
                return now.says_done(self._thresholds), False
            history.append(now)
        stands = assess(history, self._thresholds).progress
        return stands is Progress.SUCCEEDED, stands is Progress.STANDSTILL

    def _doubt(self, selection: Selection, score: float, uncertain: bool) -> str:
        """Return why the reading abstains; empty: it does not."""
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
        """Add a reading to the history, which begins anew for another attempt or camera, or when the clock restarts."""
        began_again = (
            bool(self._history) and now.stamp_s < self._history[-1].stamp_s
        )  # the clock has restarted
        if began_again or self._watched != (selection.attempt, selection.camera):
            self._watched = (selection.attempt, selection.camera)
            self._history.clear()
        if not self._history or now.stamp_s > self._history[-1].stamp_s:
            self._history.append(now)
