"""The verify gate on histories of readings."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement, judge

CONFIG = ProgressThresholds(default_patience_s=4.0, plateau_window_s=2.0)


def history(*progress: float, success: float | None = None, start: float = 0.0) -> list[ProgressReading]:
    """Readings at 3 Hz."""
    return [
        ProgressReading(start + i / 3, p, p if success is None else success) for i, p in enumerate(progress)
    ]


def at_end(
    readings: list[ProgressReading], late_s: float = 0.0, deadline_s: float = 60.0, started_s: float = 0.0
) -> Judgement:
    now_s = readings[-1].stamp_s + late_s
    return judge(readings, started_s=started_s, now_s=now_s, deadline_s=deadline_s, thresholds=CONFIG)


def test_success_needs_the_whole_dwell() -> None:
    assert at_end(history(0.2, 0.85, 0.9)).verdict is GateVerdict.RUNNING
    assert at_end(history(0.2, 0.85, 0.9, 0.9)).verdict is GateVerdict.SUCCEEDED
    assert at_end(history(0.9, 0.9, 0.5, 0.9, 0.9)).verdict is GateVerdict.RUNNING


def test_success_needs_both_heads() -> None:
    assert at_end(history(0.9, 0.9, 0.9, 0.9, success=0.4)).verdict is GateVerdict.RUNNING


def test_a_gap_breaks_the_dwell() -> None:
    readings = [*history(0.9, 0.9), *history(0.9, start=10.0)]
    assert at_end(readings).verdict is GateVerdict.RUNNING


def test_readings_of_an_earlier_attempt_do_not_count() -> None:
    readings = history(0.9, 0.9, 0.9, 0.9)
    verdict = judge(readings, started_s=5.0, now_s=5.1, deadline_s=60, thresholds=CONFIG).verdict
    assert verdict is GateVerdict.ABSTAINED


def test_plateau_counts_only_after_patience_and_over_the_whole_window() -> None:
    flat = [0.3] * 30
    assert at_end(history(*flat[:11])).verdict is GateVerdict.RUNNING
    assert at_end(history(*flat)).verdict is GateVerdict.STALLED
    rising = [0.3 + 0.01 * i for i in range(30)]
    assert at_end(history(*rising)).verdict is GateVerdict.RUNNING


def test_falling_progress_is_a_standstill_too() -> None:
    assert at_end(history(*[0.45 - 0.01 * i for i in range(30)])).verdict is GateVerdict.STALLED


def test_an_attempt_above_the_floor_gets_twice_the_patience() -> None:
    assert at_end(history(*[0.6] * 20)).verdict is GateVerdict.RUNNING
    assert at_end(history(*[0.6] * 30)).verdict is GateVerdict.STALLED


def test_deadline_is_no_success_and_no_silence() -> None:
    assert at_end(history(*[0.6] * 10), deadline_s=3.0).verdict is GateVerdict.DEADLINE
    late = judge([], started_s=0.0, now_s=10.0, deadline_s=9.0, thresholds=CONFIG)
    assert late.verdict is GateVerdict.UNVERIFIED
    assert "no reading" in late.reason


def test_stale_readings_abstain_even_if_they_were_good() -> None:
    assert at_end(history(*[0.9] * 9), late_s=3.5).verdict is GateVerdict.ABSTAINED
    assert at_end(history(*[0.9] * 9), late_s=3.5, deadline_s=6.0).verdict is GateVerdict.UNVERIFIED


def abstaining(
    *scores: float, remark: str = "the score is uncertain", start: float = 0.0
) -> list[ProgressReading]:
    """Readings at 3 Hz with which the monitor says neither yes nor no."""
    return [
        ProgressReading(start + i / 3, score, score, calibrated=True, abstained=True, remark=remark)
        for i, score in enumerate(scores)
    ]


def test_a_calibrated_probability_is_judged_without_the_raw_progress() -> None:
    readings = [ProgressReading(i / 3, 0.6, 0.9, calibrated=True) for i in range(4)]
    said = at_end(readings)
    assert said.verdict is GateVerdict.SUCCEEDED
    assert "probability that it is done, 0.90" in said.reason


def test_abstentions_are_neither_a_success_nor_a_standstill() -> None:
    said = at_end(abstaining(*[0.9] * 60))
    assert said.verdict is GateVerdict.ABSTAINED
    assert "abstains: the score is uncertain" in said.reason
    assert at_end(abstaining(*[0.3] * 60)).verdict is GateVerdict.ABSTAINED
    over = at_end(abstaining(*[0.9] * 60), deadline_s=9.0)
    assert over.verdict is GateVerdict.UNVERIFIED
    assert "the score is uncertain" in over.reason


def test_a_single_abstention_decides_nothing_but_breaks_the_dwell() -> None:
    readings = [*history(0.9, 0.9), *abstaining(0.9, start=2 / 3), *history(0.9, 0.9, start=1.0)]
    assert at_end(readings).verdict is GateVerdict.RUNNING
    assert at_end(readings[:3]).verdict is GateVerdict.RUNNING
    assert at_end([*readings, *history(0.9, start=5 / 3)]).verdict is GateVerdict.SUCCEEDED


def test_the_trend_is_taken_from_readings_that_count() -> None:
    wild = [*history(*[0.3] * 27), *abstaining(0.9, 0.9, start=9.0), *history(0.3, start=29 / 3)]
    assert at_end(wild).verdict is GateVerdict.STALLED


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.5])
def test_readings_out_of_range_are_ignored(bad: float) -> None:
    assert at_end(history(bad, bad, bad, bad, success=bad)).verdict is GateVerdict.ABSTAINED


def test_thresholds_come_from_the_reward_section() -> None:
    reward = {
        "success_threshold": 0.7,
        "check_floor": 0.4,
        "default_patience_s": 6,
        "num_bins": 100,
        "target_fps": 3,
    }
    config = ProgressThresholds.from_reward(reward)
    assert (config.success_threshold, config.check_floor, config.default_patience_s) == (0.7, 0.4, 6.0)
    assert config.dwell == ProgressThresholds().dwell
    with pytest.raises(ValidationError, match="check_floor"):
        ProgressThresholds.from_reward({"success_threshold": 0.3, "check_floor": 0.4})
