"""The judge of an attempt at its edges; what its readings add up to is told in tests/reasoner/mission/test_gate.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from openral_core.progress_judgement import (
    Progress,
    ProgressReading,
    ProgressThresholds,
    assess,
    gets_nearer,
)

THRESHOLDS = ProgressThresholds(success_threshold=0.75, check_floor=0.5, dwell=3)
GOOD = ProgressReading(1.0, progress=0.75, success=0.75)


@pytest.mark.parametrize("head", ["progress", "success"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.01, 1.01])
@pytest.mark.parametrize("calibrated", [False, True])
def test_a_reading_with_one_output_that_is_no_share_is_evidence_of_nothing(
    head: str, bad: float, calibrated: bool
) -> None:
    one = replace(GOOD, **{"progress": 1.0, "success": 1.0, head: bad}, calibrated=calibrated)
    assert not one.valid
    assert not one.says_done(THRESHOLDS)
    readings = [replace(one, stamp_s=float(second)) for second in range(5)]
    assert assess(readings, THRESHOLDS).progress is Progress.ABSTAINED


def test_a_score_at_the_threshold_is_enough_and_one_below_it_is_not() -> None:
    assert GOOD.says_done(THRESHOLDS)
    below = float(np.nextafter(0.75, 0.0))
    assert not replace(GOOD, progress=below).says_done(THRESHOLDS)
    assert not replace(GOOD, success=below).says_done(THRESHOLDS)
    assert replace(GOOD, progress=below, calibrated=True).says_done(THRESHOLDS)


def test_readings_as_far_apart_as_may_be_make_a_dwell_and_those_further_apart_do_not() -> None:
    gap_s = THRESHOLDS.stale_after_s
    readings = [replace(GOOD, stamp_s=number * gap_s) for number in range(3)]
    assert assess(readings, THRESHOLDS).dwell == 3
    later = [*readings[:2], replace(GOOD, stamp_s=2.0 * gap_s + 0.01)]
    assert assess(later, THRESHOLDS).dwell == 1


def rising(*progress: float) -> list[ProgressReading]:
    return [ProgressReading(0.5 * number, one, 0.1) for number, one in enumerate(progress)]


def test_an_attempt_gets_nearer_if_its_newest_reading_is_above_the_floor_and_its_trend_rises() -> None:
    assert gets_nearer(rising(0.1, 0.3, 0.5), THRESHOLDS)
    assert not gets_nearer(rising(0.0, 0.55, 0.45), THRESHOLDS), "the newest is below the floor"
    assert not gets_nearer(rising(0.9, 0.8, 0.7), THRESHOLDS), "it falls"
    assert not gets_nearer(rising(0.1, 0.5), THRESHOLDS), "two readings are no trend"
