"""The verify gate: whether a running attempt has succeeded, has failed, or goes on. A pure function.

The readings are assessed by `openral_core.progress_judgement.assess`, as by the reward monitor itself. The gate adds
what depends on time: readings that are missing or old, the patience before a standstill ends the attempt, and its
deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from openral_core.progress_judgement import (
    Assessment,
    Progress,
    ProgressReading,
    ProgressThresholds,
    assess,
    gets_nearer,
)


class GateVerdict(Enum):
    """The gate's verdict on an attempt."""

    RUNNING = "running"
    ABSTAINED = "abstained"
    """There is no recent reading, or the monitor abstains; the attempt goes on."""
    SUCCEEDED = "succeeded"
    STALLED = "stalled"
    DEADLINE = "deadline"
    UNVERIFIED = "unverified"
    """The deadline passed without a recent reading, or while the monitor abstained."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason in words."""

    verdict: GateVerdict
    reason: str
    broken_off: bool = False
    """Something else than its own failure ended the attempt: a node died, refused the goal, or was restarted."""
    rising: bool = False
    """Progress was high, and still rising, at the deadline."""


def judge(
    readings: Sequence[ProgressReading],
    *,
    started_s: float,
    now_s: float,
    deadline_s: float,
    thresholds: ProgressThresholds,
) -> Judgement:
    """Judge one attempt.

    Args:
        readings: in the order of their stamps; those from before the attempt or not a number are ignored.
        started_s: [s] node clock at which the attempt began.
        now_s: [s] node clock.
        deadline_s: [s] duration after which the attempt is over.
        thresholds: of the reward skill.
    """
    valid = [reading for reading in readings if reading.valid and started_s <= reading.stamp_s <= now_s]
    elapsed = now_s - started_s
    if not valid or now_s - valid[-1].stamp_s > thresholds.stale_after_s:
        verdict = GateVerdict.UNVERIFIED if elapsed >= deadline_s else GateVerdict.ABSTAINED
        return Judgement(verdict, _silence(valid, now_s))
    newest, stands = valid[-1], assess(valid, thresholds)
    if stands.progress is Progress.SUCCEEDED:
        return Judgement(GateVerdict.SUCCEEDED, _success(newest, stands.dwell, thresholds))
    if elapsed >= deadline_s:
        rising = gets_nearer(valid, thresholds)
        if stands.progress is Progress.ABSTAINED:
            return Judgement(GateVerdict.UNVERIFIED, _doubt(newest), rising=rising)
        reason = f"the deadline of {deadline_s:.1f} s passed at progress {newest.progress:.2f}"
        return Judgement(GateVerdict.DEADLINE, reason, rising=rising)
    if stands.abstentions >= thresholds.dwell:
        return Judgement(GateVerdict.ABSTAINED, _doubt(newest))
    patience_s = thresholds.default_patience_s * (2 if newest.progress >= thresholds.check_floor else 1)
    if stands.progress is Progress.STANDSTILL and elapsed >= patience_s:
        return Judgement(GateVerdict.STALLED, _standstill(newest, stands, elapsed, thresholds))
    return Judgement(GateVerdict.RUNNING, f"progress {newest.progress:.2f}, success {newest.success:.2f}")


def _success(reading: ProgressReading, dwell: int, thresholds: ProgressThresholds) -> str:
    stayed = f"stayed at or above {thresholds.success_threshold:.2f} for {dwell} readings"
    if reading.calibrated:
        return f"the probability that it is done, {reading.success:.2f}, {stayed}"
    return f"progress {reading.progress:.2f} and success {reading.success:.2f} {stayed}"


def _standstill(
    newest: ProgressReading, stands: Assessment, elapsed: float, thresholds: ProgressThresholds
) -> str:
    return (
        f"progress stands at {newest.progress:.2f} ({stands.rise or 0.0:+.2f} in "
        f"{thresholds.plateau_window_s:.1f} s), {elapsed:.1f} s after the start"
    )


def _doubt(reading: ProgressReading) -> str:
    return f"the reward monitor abstains: {reading.remark or 'it gives no reason'}"


def _silence(valid: Sequence[ProgressReading], now_s: float) -> str:
    if not valid:
        return "the reward monitor sent no reading for this attempt"
    return f"the reward monitor's last reading is {now_s - valid[-1].stamp_s:.1f} s old"
