"""Is it so? The reward monitor is asked until its answers agree; doubt stays doubt."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_reasoner.condition import Condition
from openral_reasoner.mission.agent_requests import QueryProgress, Reply
from openral_reasoner.mission.attempt import AskWorld
from openral_reasoner.mission.condition_query import PATIENCE_S, PERIOD_S, ConditionQuery

ALONE = Condition("the button is pressed", "press the button")
PAIRED = Condition("the drawer is open", "open the drawer", "close the drawer")


def ask(condition: Condition, scores: Callable[[str, int], float | None]) -> tuple[bool | None, int, float]:
    """Ask about a condition; return what was found, the number of questions, and the seconds it took.

    Args:
        condition: what is asked.
        scores: words and number of the question -> score, NaN: in doubt, None: refused.
    """
    asked = 0

    def sense(request: QueryProgress, answer: Callable[[Reply], None]) -> None:
        nonlocal asked
        asked += 1
        score = scores(request.task, asked)
        answer(
            Reply(False, "no frames")
            if score is None
            else Reply(True, f"success {score:.2f}", reading=ProgressReading(0.0, score, score))
        )

    condition_query = ConditionQuery(sense, ProgressThresholds(success_threshold=0.8, dwell=3))
    condition_query.ask(AskWorld(1, condition), 0.0)
    now = 0.0
    while (told := condition_query.tick(now)) is None:
        now += 0.1
        assert now < 2 * PATIENCE_S
    assert condition_query.tick(now) is None, "it is told once"
    return told[1], asked, now


@pytest.mark.parametrize(("score", "holds"), [(0.9, True), (0.2, False)])
def test_three_answers_that_agree_are_enough(score: float, holds: bool) -> None:
    found, asked, _ = ask(ALONE, lambda words, number: score)
    assert (found, asked) == (holds, 3)


def test_a_single_high_score_among_low_ones_is_noise() -> None:
    found, asked, _ = ask(ALONE, lambda words, number: 0.9 if number == 2 else 0.1)
    assert (found, asked) == (False, 5)


@pytest.mark.parametrize(("done", "holds"), [("open the drawer", True), ("close the drawer", False)])
def test_of_two_opposites_the_high_one_decides(done: str, holds: bool) -> None:
    found, asked, _ = ask(PAIRED, lambda words, number: 0.95 if words == done else 0.1)
    assert found is holds
    assert asked <= 6


def test_neither_of_two_opposites_leaves_it_open() -> None:
    found, _, seconds = ask(PAIRED, lambda words, number: 0.3)
    assert found is None
    assert seconds >= PATIENCE_S - PERIOD_S


def test_a_monitor_that_refuses_is_not_asked_for_long() -> None:
    found, asked, _ = ask(ALONE, lambda words, number: None)
    assert (found, asked) == (None, 3)


def test_doubt_is_neither_yes_nor_no() -> None:
    assert ask(ALONE, lambda words, number: math.nan)[0] is None
    found, asked, _ = ask(ALONE, lambda words, number: math.nan if number == 3 else 0.9)
    assert (found, asked) == (True, 6)


def test_a_not_turns_it_round() -> None:
    negated = Condition("the button is pressed", "press the button", negated=True)
    assert ask(negated, lambda words, number: 0.9)[0] is False
