"""Sentences to ordered tasks."""

from __future__ import annotations

import pytest

from openral_reasoner.offline.rules.parser import Orders, parse
from openral_reasoner.offline.rules.structure import NotUnderstood, State
from openral_reasoner.vocabulary import stem


def tasks(sentence: str) -> list[str]:
    return [task for orders in passages(sentence) for task in orders.tasks]


def passages(sentence: str) -> tuple[Orders, ...]:
    read = parse(sentence)
    assert not isinstance(read, NotUnderstood), read
    return read


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("open the drawer, then close it", ["open the drawer", "close the drawer"]),
        ("Open the drawer and close it again.", ["open the drawer", "close the drawer again"]),
        ("open the window and the drawer", ["open the window", "open the drawer"]),
        ("open and close the drawer", ["open the drawer", "close the drawer"]),
        ("first open the drawer, then press the button", ["open the drawer", "press the button"]),
        ("open the second drawer", ["open the second drawer"]),
        ("pull it", []),
        ("fry the egg and the bacon", ["fry the egg", "fry the bacon"]),
        ("- open the door\n- shut it", ["open the door", "shut the door"]),
        ("close the drawer after opening the window", ["opening the window", "close the drawer"]),
        (
            "open the lid and the box; then close both",
            ["open the lid", "open the box", "close the lid", "close the box"],
        ),
    ],
)
def test_order_verbs_and_pronouns(sentence: str, expected: list[str]) -> None:
    if expected:
        assert tasks(sentence) == expected
    else:
        assert isinstance(parse(sentence), NotUnderstood)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("don't open the drawer", "forbids"),
        ("open the drawer if you are in the mood", "condition"),
        ("open the drawer every time the bell rings", "repeats"),
        ("press the button a thousand times", "at most 10 times"),
        ("open the drawer by 5 cm", "measure"),
        ("the drawer is open", "describes"),
        ("open the window, the drawer is not to be opened", "forbids"),
        ("whenever the drawer is open, close it", "condition"),
        ("do that twice", "repeat"),
        ("what is in the drawer?", "question"),
        ("open the window rather than the drawer", "exception"),
        ("!?", "no words"),
        ("close it", "nothing that was named"),
    ],
)
def test_refusals_say_why(sentence: str, reason: str) -> None:
    refused = parse(sentence)
    assert isinstance(refused, NotUnderstood)
    assert reason in refused.reason


OPEN = State("the drawer", "open")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("if the drawer is open, close it", Orders(("close the drawer",), OPEN)),
        ("close the drawer if it's open", Orders(("close the drawer",), OPEN)),
        (
            "if the drawer isn't open, pull it open",
            Orders(("pull the drawer open",), State("the drawer", "open", True)),
        ),
        (
            "close the drawer unless it is already shut",
            Orders(("close the drawer",), State("the drawer", "shut", True)),
        ),
        ("when the drawer is open, close it", Orders(("close the drawer",), OPEN, wait=True)),
        (
            "if the drawer is open, close it; otherwise press the button",
            Orders(("close the drawer",), OPEN, otherwise=("press the button",)),
        ),
        ("press the button until the drawer is open", Orders(("press the button",), until=OPEN)),
        ("open and close the drawer three times", Orders(("open the drawer", "close the drawer"), times=3)),
    ],
)
def test_conditions_and_repetitions_are_taken_off(sentence: str, expected: Orders) -> None:
    assert passages(sentence) == (expected,)


def test_a_condition_ends_at_then() -> None:
    first, second = passages("if the drawer is open close it, then press the button")
    assert first == Orders(("close the drawer",), OPEN)
    assert second == Orders(("press the button",))


@pytest.mark.parametrize(
    "sentence",
    [
        "would you be so kind as to open the drawer",
        "it is stuffy in here, open the drawer",
        "the drawer is shut, open it",
        "I need my socks from the drawer, so open it",
        "don't forget to open the drawer",
    ],
)
def test_politeness_and_remarks_are_no_tasks(sentence: str) -> None:
    assert tasks(sentence) == ["open the drawer"]


def test_inflections_share_a_stem() -> None:
    for forms in (
        "close closes closed closing",
        "shut shuts shutting",
        "press presses pressed pressing",
        "open opened",
    ):
        assert len({stem(form) for form in forms.split()}) == 1, forms
    assert stem("open") != stem("close")
