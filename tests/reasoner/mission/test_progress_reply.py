"""What the reasoner makes of the reward monitor's answer."""

from __future__ import annotations

from typing import Any

import pytest
from openral.srv import QueryTaskProgress

from openral_reasoner.mission.agent_requests import Reply
from openral_reasoner.ros.perception_client import progress_reply


def reply(**answer: Any) -> Reply:
    return progress_reply(QueryTaskProgress.Response(ok=True, **answer))


def score(**answer: Any) -> float:
    reading = reply(**answer).reading
    assert reading is not None
    return reading.score


def test_without_a_calibration_both_heads_must_be_high() -> None:
    assert score(progress_now=0.3, success_now=0.9) == pytest.approx(0.3)
    assert score(progress_now=0.95, success_now=0.9) == pytest.approx(0.9)


def test_a_calibrated_probability_stands_for_itself() -> None:
    assert score(progress_now=0.3, success_now=0.9, calibrated=True) == pytest.approx(0.9)


@pytest.mark.parametrize("doubt", ["abstained", "stale"])
def test_doubt_is_no_reading(doubt: str) -> None:
    assert reply(progress_now=1.0, success_now=1.0, **{doubt: True}).reading is None
