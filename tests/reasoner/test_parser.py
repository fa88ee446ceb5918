"""Sentences to ordered tasks."""

from __future__ import annotations

import pytest

from openral_reasoner.parser import NotUnderstood, parse
from openral_reasoner.vocabulary import stem


def tasks(sentence: str) -> list[str]:
    phrases = parse(sentence)
    assert not isinstance(phrases, NotUnderstood), phrases
    return [phrase.text for phrase in phrases]


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
        ("open the drawer if it is closed", "condition"),
        ("open the drawer three times", "repeats"),
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


def test_inflections_share_a_stem() -> None:
    for forms in (
        "close closes closed closing",
        "shut shuts shutting",
        "press presses pressed pressing",
        "open opened",
    ):
        assert len({stem(form) for form in forms.split()}) == 1, forms
    assert stem("open") != stem("close")
