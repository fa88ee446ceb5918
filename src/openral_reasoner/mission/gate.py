"""The verify gate: what a history of progress readings says about a running attempt. A pure function.

The reward model is a learned judge with noise and thin margins, so no single reading decides. Success needs
a dwell: several consecutive readings above the threshold. A standstill needs a plateau over a whole window,
after the attempt had its patience. Without fresh readings, or while the monitor itself abstains (its score is
uncertain, or its camera is not to be trusted), the gate abstains: that is neither a success nor a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator


class GateConfig(BaseModel):
    """Thresholds of the gate; a reward model's manifest (`reward` section) replaces the defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    success_threshold: float = Field(default=0.8, ge=0, le=1)
    """The calibrated probability must reach it; without a calibration both heads, progress and success."""
    dwell: int = Field(default=3, ge=1)
    """Consecutive readings above the threshold that make a success, or abstentions that are told; at 3 Hz one
    second."""
    check_floor: float = Field(default=0.5, ge=0, le=1)
    """An attempt with this progress has got far, and is given twice the patience."""
    plateau_window_s: float = Field(default=3.0, gt=0)
    """[s] window over which the trend of progress is taken."""
    plateau_tolerance: float = Field(default=0.05, ge=0)
    """Greatest rise of progress over the window that still counts as standing still."""
    default_patience_s: float = Field(default=30.0, ge=0)
    """[s] from the start of an attempt in which no plateau ends it."""
    stale_after_s: float = Field(default=3.0, gt=0)
    """[s] age from which the newest reading is not trusted, and gap that breaks a dwell."""

    @model_validator(mode="after")
    def _floor_below_threshold(self) -> GateConfig:
        if self.check_floor > self.success_threshold:
            raise ValueError(
                f"check_floor {self.check_floor} is above success_threshold {self.success_threshold}"
            )
        return self

    @staticmethod
    def from_reward(reward: Mapping[str, object]) -> GateConfig:
        """Take from a manifest's `reward` section the fields that the gate has; the rest is the monitor's.

        Raises:
            pydantic.ValidationError: a threshold is out of its range.
        """
        return GateConfig.model_validate({k: v for k, v in reward.items() if k in GateConfig.model_fields})


@dataclass(frozen=True)
class Reading:
    """One answer of the reward monitor."""

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
        """Both heads gave a number between 0 and 1."""
        return 0.0 <= self.progress <= 1.0 and 0.0 <= self.success <= 1.0


class Verdict(Enum):
    """What the gate says about an attempt."""

    RUNNING = "running"
    ABSTAINED = "abstained"
    """No reading that can be trusted, or the monitor abstains; the attempt goes on."""
    SUCCEEDED = "succeeded"
    STALLED = "stalled"
    DEADLINE = "deadline"
    UNVERIFIED = "unverified"
    """The deadline passed and nobody could say how far the attempt got."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason in words."""

    verdict: Verdict
    reason: str


def judge(
    readings: Sequence[Reading], *, started_s: float, now_s: float, deadline_s: float, config: GateConfig
) -> Judgement:
    """Judge one attempt.

    Args:
        readings: in the order of their stamps; those from before the attempt or not a number are ignored.
        started_s: [s] node clock at which the attempt began.
        now_s: [s] node clock.
        deadline_s: [s] duration after which the attempt is over.
        config: thresholds.
    """
    valid = [reading for reading in readings if reading.valid and started_s <= reading.stamp_s <= now_s]
    elapsed = now_s - started_s
    fresh = bool(valid) and now_s - valid[-1].stamp_s <= config.stale_after_s
    if fresh and (dwell := _dwell(valid, config)) >= config.dwell:
        return Judgement(Verdict.SUCCEEDED, _praise(valid[-1], dwell, config))
    unsure = _abstentions(valid, config) if fresh else 0
    if elapsed >= deadline_s:
        if not fresh:
            return Judgement(Verdict.UNVERIFIED, _silence(valid, now_s))
        if unsure:
            return Judgement(Verdict.UNVERIFIED, _doubt(valid[-1]))
        return Judgement(
            Verdict.DEADLINE,
            f"the deadline of {deadline_s:.1f} s passed at progress {valid[-1].progress:.2f}",
        )
    if not fresh:
        return Judgement(Verdict.ABSTAINED, _silence(valid, now_s))
    if unsure >= config.dwell:
        return Judgement(Verdict.ABSTAINED, _doubt(valid[-1]))
    latest = valid[-1].progress
    patience = config.default_patience_s * (2 if latest >= config.check_floor else 1)
    rise = _rise(valid, now_s, config)
    ripe = elapsed >= patience and valid[-1].score < config.success_threshold and not unsure
    if ripe and rise is not None and rise <= config.plateau_tolerance:
        return Judgement(
            Verdict.STALLED,
            f"progress stands at {latest:.2f} ({rise:+.2f} in {config.plateau_window_s:.1f} s), "
            f"{elapsed:.1f} s after the start",
        )
    return Judgement(Verdict.RUNNING, f"progress {latest:.2f}, success {valid[-1].success:.2f}")


def _dwell(valid: Sequence[Reading], config: GateConfig) -> int:
    """Number of newest consecutive readings, without a gap, above the threshold; an abstention is no evidence."""
    return _run(
        valid, config, lambda reading: not reading.abstained and reading.score >= config.success_threshold
    )


def _abstentions(valid: Sequence[Reading], config: GateConfig) -> int:
    """Number of newest consecutive readings, without a gap, that abstained."""
    return _run(valid, config, lambda reading: reading.abstained)


def _run(valid: Sequence[Reading], config: GateConfig, holds: Callable[[Reading], bool]) -> int:
    count = 0
    newer = valid[-1].stamp_s
    for reading in reversed(valid):
        if not holds(reading) or newer - reading.stamp_s > config.stale_after_s:
            break
        count += 1
        newer = reading.stamp_s
    return count


def _rise(valid: Sequence[Reading], now_s: float, config: GateConfig) -> float | None:
    """Least-squares trend of progress times the window; None while readings do not fill the window."""
    begin_s = now_s - config.plateau_window_s
    window = [reading for reading in valid if reading.stamp_s >= begin_s and not reading.abstained]
    if len(window) < 3 or window[-1].stamp_s - window[0].stamp_s < 0.6 * config.plateau_window_s:
        return None
    stamps = np.array([reading.stamp_s for reading in window])
    stamps -= stamps.mean()
    progress = np.array([reading.progress for reading in window])
    return float(stamps @ progress / (stamps @ stamps)) * config.plateau_window_s


def _praise(reading: Reading, dwell: int, config: GateConfig) -> str:
    stayed = f"stayed at or above {config.success_threshold:.2f} for {dwell} readings"
    if reading.calibrated:
        return f"the probability that it is done, {reading.success:.2f}, {stayed}"
    return f"progress {reading.progress:.2f} and success {reading.success:.2f} {stayed}"


def _doubt(reading: Reading) -> str:
    return f"the reward monitor abstains: {reading.remark or 'it gives no reason'}"


def _silence(valid: Sequence[Reading], now_s: float) -> str:
    if not valid:
        return "the reward monitor sent no reading for this attempt"
    return f"the reward monitor's last reading is {now_s - valid[-1].stamp_s:.1f} s old"
