"""The one judgement of progress: what a history of readings of the reward model says about a running attempt.

The reward monitor publishes it with every reading, and a mission acts on it; both call `assess` on the same readings
with the same thresholds.

A reward model is a learned judge with noise and thin margins, so no single reading decides. Success needs a dwell:
several consecutive readings at or above the threshold. A standstill needs a progress whose least-squares trend stays
flat over a whole window. A reading with which the monitor abstains (an uncertain score, a camera that cannot be
trusted) is evidence of neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

COVERED = 0.9
"""Share of the plateau window that readings must span before progress can count as standing still."""
LEAST_READINGS = 3
"""Readings that a trend needs."""


class ProgressThresholds(BaseModel):
    """Thresholds of the judgement; the `reward` section of a reward skill's manifest replaces the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    success_threshold: float = Field(default=0.8, ge=0, le=1)
    """The calibrated probability must reach it; without a calibration both heads, progress and success."""
    dwell: int = Field(default=3, ge=1)
    """Consecutive readings at or above the threshold that make a success; at 3 Hz one second."""
    check_floor: float = Field(default=0.5, ge=0, le=1)
    """An attempt with this progress has got far, and is given twice the patience."""
    plateau_window_s: float = Field(default=3.0, gt=0)
    """[s] window over which the trend of progress is taken."""
    plateau_tolerance: float = Field(default=0.05, ge=0)
    """Greatest rise of progress over the window that still counts as standing still."""
    default_patience_s: float = Field(default=30.0, ge=0)
    """[s] from the start of an attempt in which no standstill ends it."""
    stale_after_s: float = Field(default=3.0, gt=0)
    """[s] age from which the newest reading is not trusted, and gap that breaks a dwell."""

    @model_validator(mode="after")
    def _floor_below_threshold(self) -> ProgressThresholds:
        if self.check_floor > self.success_threshold:
            raise ValueError(
                f"check_floor {self.check_floor} is above success_threshold {self.success_threshold}"
            )
        return self

    @staticmethod
    def from_reward(reward: Mapping[str, object]) -> ProgressThresholds:
        """Return the thresholds of a manifest's `reward` section; its other fields are the monitor's.

        Raises:
            pydantic.ValidationError: a threshold is out of its range.
        """
        fields = ProgressThresholds.model_fields
        return ProgressThresholds.model_validate({k: v for k, v in reward.items() if k in fields})


@dataclass(frozen=True)
class ProgressReading:
    """One score of one attempt."""

    stamp_s: float
    """[s] node clock, of the newest frame that was scored."""
    progress: float
    """0..1."""
    success: float
    """0..1."""
    calibrated: bool = False
    """`success` is the probability that the task is done, with both heads considered."""
    abstained: bool = False
    """The monitor says neither yes nor no."""
    remark: str = ""
    """Why it abstained."""

    @property
    def score(self) -> float:
        """0..1, what the threshold is compared with."""
        return self.success if self.calibrated else min(self.progress, self.success)

    @property
    def valid(self) -> bool:
        """Whether both heads gave a number between 0 and 1."""
        return 0.0 <= self.progress <= 1.0 and 0.0 <= self.success <= 1.0

    def says_done(self, thresholds: ProgressThresholds) -> bool:
        """Return whether this one reading, taken alone, says that the task is done."""
        return self.valid and not self.abstained and self.score >= thresholds.success_threshold


class Progress(Enum):
    """How an attempt stands at its newest reading."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    STANDSTILL = "standstill"
    ABSTAINED = "abstained"
    """The newest reading is none that counts, or there is no reading at all."""


@dataclass(frozen=True)
class Assessment:
    """How an attempt stands, with the numbers that say so."""

    progress: Progress
    dwell: int = 0
    """Newest consecutive readings at or above the threshold."""
    abstentions: int = 0
    """Newest consecutive readings that abstained."""
    rise: float | None = None
    """Change of progress over the plateau window by its trend; None while readings do not span the window."""


def assess(readings: Sequence[ProgressReading], thresholds: ProgressThresholds) -> Assessment:
    """Say how an attempt stands at the newest of its readings.

    Args:
        readings: of this attempt alone, in the order of their stamps; those that are no numbers are ignored.
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
    """Say whether an attempt has got far and progress still rises, however much of the window its readings span.

    Args:
        readings: as for `assess`.
        thresholds: of the reward skill.
    """
    window = _window([reading for reading in readings if reading.valid], thresholds)
    if len(window) < LEAST_READINGS or window[-1].progress < thresholds.check_floor:
        return False
    return _trend(window, thresholds) > thresholds.plateau_tolerance


def slope_per_second(stamps_s: NDArray[np.float64], values: NDArray[np.floating]) -> float:
    """Return the least-squares slope [1/s] of (T,) values over (T,) stamps; 0 for fewer than two instants.

    The ordinary estimate sum((t - mean t)(y - mean y)) / sum((t - mean t)^2), so that neither the number of frames
    nor uneven spacing changes its unit.
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
    """Return the number of newest readings in a row, without a gap between them, for which something holds."""
    count, newer_s = 0, valid[-1].stamp_s
    for reading in reversed(valid):
        if not holds(reading) or newer_s - reading.stamp_s > thresholds.stale_after_s:
            break
        count, newer_s = count + 1, reading.stamp_s
    return count


def _rise(valid: Sequence[ProgressReading], thresholds: ProgressThresholds) -> float | None:
    """Return the trend of progress times the window; None while readings that count do not span the window."""
    window = _window(valid, thresholds)
    if len(window) < LEAST_READINGS:
        return None
    if window[-1].stamp_s - window[0].stamp_s < COVERED * thresholds.plateau_window_s:
        return None
    return _trend(window, thresholds)


def _window(valid: Sequence[ProgressReading], thresholds: ProgressThresholds) -> Sequence[ProgressReading]:
    """Return the newest readings that count: those of the window's seconds, the one before them, so that it is spanned
    at any rate, and at least three, where there are so many."""
    counting = [reading for reading in valid if not reading.abstained]
    begin_s = counting[-1].stamp_s - thresholds.plateau_window_s if counting else 0.0
    inside = sum(reading.stamp_s >= begin_s for reading in counting)
    return counting[-max(inside + 1, LEAST_READINGS) :]


def _trend(window: Sequence[ProgressReading], thresholds: ProgressThresholds) -> float:
    """Return by how much progress would change in a window, by the least-squares slope of readings."""
    stamps = np.array([reading.stamp_s for reading in window])
    slope = slope_per_second(stamps, np.array([reading.progress for reading in window]))
    return slope * thresholds.plateau_window_s
