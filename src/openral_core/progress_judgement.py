"""Assessment of a running attempt from the history of the reward model's readings.

The reward monitor publishes the assessment with every reading, and missions act on it; both call `assess` on the same
readings with the same thresholds.

The outputs of a reward model are noisy, so that no single reading decides. Success needs a dwell, which is several
consecutive readings at or above the threshold. A standstill needs a least-squares trend of progress that is flat over a
whole window. A reading with which the monitor abstains (for an uncertain score or an untrusted camera) is evidence of
neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

COVERED = 0.9
"""Share of the plateau window that readings must span before an attempt can be at a standstill."""
LEAST_READINGS = 3
"""Least number of readings for a trend."""


class ProgressThresholds(BaseModel):
    """Thresholds of the assessment; the `reward` section of a reward skill's manifest overrides the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    success_threshold: float = Field(default=0.8, ge=0, le=1)
    """Least score for success: of the calibrated probability, or without calibration of both progress and success."""
    dwell: int = Field(default=3, ge=1)
    """Number of consecutive readings at or above the threshold that make a success; 3 readings are 1 s at 3 Hz."""
    check_floor: float = Field(default=0.5, ge=0, le=1)
    """Progress from which on an attempt is given twice the patience."""
    plateau_window_s: float = Field(default=3.0, gt=0)
    """[s] window of the trend of progress."""
    plateau_tolerance: float = Field(default=0.05, ge=0)
    """Largest rise of progress over the window that counts as a standstill."""
    default_patience_s: float = Field(default=30.0, ge=0)
    """[s] time from the start of an attempt within which a standstill does not end it."""
    stale_after_s: float = Field(default=3.0, gt=0)
    """[s] age from which on the newest reading is not trusted; a larger gap between readings ends a dwell."""

    @model_validator(mode="after")
    def _floor_below_threshold(self) -> ProgressThresholds:
        if self.check_floor > self.success_threshold:
            raise ValueError(
                f"check_floor {self.check_floor} is above success_threshold {self.success_threshold}"
            )
        return self

    @staticmethod
    def from_reward(reward: Mapping[str, object]) -> ProgressThresholds:
        """Return the thresholds of a manifest's `reward` section; its other fields are ignored.

        Raises:
            pydantic.ValidationError: a threshold is out of its range.
        """
        fields = ProgressThresholds.model_fields
        return ProgressThresholds.model_validate({k: v for k, v in reward.items() if k in fields})


@dataclass(frozen=True)
class ProgressReading:
    """One output of the reward model for one attempt."""

    stamp_s: float
    """[s] node clock: stamp of the newest scored frame."""
    progress: float
    """0..1."""
    success: float
    """0..1."""
    calibrated: bool = False
    """Whether `success` is the calibrated probability that the task is done, computed from both outputs."""
    abstained: bool = False
    """Whether the monitor abstains from a judgement."""
    remark: str = ""
    """Why it abstained."""

    @property
    def score(self) -> float:
        """0..1, the value that is compared with the threshold."""
        return self.success if self.calibrated else min(self.progress, self.success)

    @property
    def valid(self) -> bool:
        """Whether both outputs are numbers between 0 and 1."""
        return 0.0 <= self.progress <= 1.0 and 0.0 <= self.success <= 1.0

    def says_done(self, thresholds: ProgressThresholds) -> bool:
        """Return whether this single reading says that the task is done."""
        return self.valid and not self.abstained and self.score >= thresholds.success_threshold


class Progress(Enum):
    """State of an attempt at its newest reading."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    STANDSTILL = "standstill"
    ABSTAINED = "abstained"
    """The newest reading abstained, or there is no valid reading."""


@dataclass(frozen=True)
class Assessment:
    """State of an attempt, with its evidence."""

    progress: Progress
    dwell: int = 0
    """Number of the latest consecutive readings at or above the threshold."""
    abstentions: int = 0
    """Number of the latest consecutive readings that abstained."""
    rise: float | None = None
    """Change of progress over the plateau window by its trend; None: the readings do not span the window."""


def assess(readings: Sequence[ProgressReading], thresholds: ProgressThresholds) -> Assessment:
    """Return the assessment of an attempt at its newest reading.

    Args:
        readings: of this attempt only, in the order of their stamps; invalid ones are ignored.
        thresholds: of the reward skill.
    """
    valid = [reading for reading in readings if reading.valid]
    if not valid:
        return Assessment(Progress.ABSTAINED)
    newest = valid[-1]
    dwell = _consecutive(valid, thresholds, lambda reading: reading.says_done(thresholds))
    abstentions = _consecutive(valid, thresholds, lambda reading: reading.abstained)
    rise = _rise(valid, thresholds)
    if dwell >= thresholds.dwell:
        state = Progress.SUCCEEDED
    elif newest.abstained:
        state = Progress.ABSTAINED
    elif rise is not None and rise <= thresholds.plateau_tolerance and not dwell:
        state = Progress.STANDSTILL
    else:
        state = Progress.RUNNING
    return Assessment(state, dwell, abstentions, rise)


def gets_nearer(readings: Sequence[ProgressReading], thresholds: ProgressThresholds) -> bool:
    """Return whether progress is at least `check_floor` and still rises, even if readings do not span the window.

    Args:
        readings: as for `assess`.
        thresholds: of the reward skill.
    """
    window = _window([reading for reading in readings if reading.valid], thresholds)
    if len(window) < LEAST_READINGS or window[-1].progress < thresholds.check_floor:
        return False
    return _trend(window, thresholds) > thresholds.plateau_tolerance


def slope_per_second(stamps_s: NDArray[np.float64], values: NDArray[np.floating]) -> float:
    """Return the least-squares slope [1/s] of (T,) values over (T,) stamps [s]; 0 for fewer than two instants.

    It is the ordinary estimate sum((t - mean t)(y - mean y)) / sum((t - mean t)^2), which does not depend on even
    spacing.
    """
    if len(stamps_s) < 2:
        return 0.0
    centred = stamps_s - stamps_s.mean()
    spread = float(centred @ centred)
    return float(centred @ (values - values.mean())) / spread if spread > 0.0 else 0.0


def _consecutive(
    valid: Sequence[ProgressReading],
    thresholds: ProgressThresholds,
    holds: Callable[[ProgressReading], bool],
) -> int:
    """Return the number of the latest consecutive readings, without a gap between them, that satisfy a predicate."""
    count, newer_s = 0, valid[-1].stamp_s
    for reading in reversed(valid):
        if not holds(reading) or newer_s - reading.stamp_s > thresholds.stale_after_s:
            break
        count, newer_s = count + 1, reading.stamp_s
    return count


def _rise(valid: Sequence[ProgressReading], thresholds: ProgressThresholds) -> float | None:
    """Return the slope of progress times the window; None: the readings without abstention do not span the window."""
    window = _window(valid, thresholds)
    if len(window) < LEAST_READINGS:
        return None
    if window[-1].stamp_s - window[0].stamp_s < COVERED * thresholds.plateau_window_s:
        return None
    return _trend(window, thresholds)


def _window(valid: Sequence[ProgressReading], thresholds: ProgressThresholds) -> Sequence[ProgressReading]:
    """Return the latest readings without abstention that are in the window.

    The one before them is added, so that they span the window at any rate, and older ones up to `LEAST_READINGS`.
    """
    counting = [reading for reading in valid if not reading.abstained]
    begin_s = counting[-1].stamp_s - thresholds.plateau_window_s if counting else 0.0
    inside = sum(reading.stamp_s >= begin_s for reading in counting)
    return counting[-max(inside + 1, LEAST_READINGS) :]


def _trend(window: Sequence[ProgressReading], thresholds: ProgressThresholds) -> float:
    """Return the change of progress over the window by the least-squares slope of the readings."""
    stamps = np.array([reading.stamp_s for reading in window])
    slope = slope_per_second(stamps, np.array([reading.progress for reading in window]))
    return slope * thresholds.plateau_window_s
