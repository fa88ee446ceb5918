"""The grammar of the offline planner: order, pronouns, gaps, conditions, and what it refuses by itself."""

from __future__ import annotations

import pytest

from openral_reasoner.offline import grammar
from openral_reasoner.offline.conditions import NoPlan, Passage, State, passages
from openral_reasoner.offline.guards import negates, only_tells, refused, spelled_out


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("open the drawer, then close it", ["open the drawer", "close it"]),
        ("open the window and the drawer", ["open the window", "the drawer"]),
        ("first open the drawer, then press the button", ["open the drawer", "press the button"]),
        ("before you close the door, press the button", ["press the button", "close the door"]),
        ("close the drawer after opening the window", ["opening the window", "close the drawer"]),
        ("put the box in the bin, but weigh it first", ["weigh the box", "put the box in the bin"]),
        ("- open the door\n- shut it", ["open the door", "shut it"]),
        ("1. press the button 2. close the drawer", ["press the button", "close the drawer"]),
    ],
)
def test_segments_come_in_the_order_of_execution(sentence: str, expected: list[str]) -> None:
    found = [piece for part in grammar.ordered(sentence) for _, piece in grammar.segments(part)]
    assert found == expected


@pytest.mark.timeout(60)
@pytest.mark.parametrize("gap", ["  ", " " * 900, " \t "])
def test_blanks_in_a_row_are_one(gap: str) -> None:
    said = grammar.unwrapped(f"if the drawer is{gap}open, close{gap}it")
    assert passages(said) == [Passage("close it", OPEN)]
    assert grammar.unwrapped(f"open the drawer{gap}\n\n{gap}close it") == "open the drawer\nclose it"
    assert grammar.unwrapped(f"open\n{gap}the drawer") == "open the drawer"


def test_gaps_and_pronouns_have_readings() -> None:
    assert "close the drawer" in grammar.readings("close it", "open the drawer", ["the drawer"], "")
    assert "close the window" in grammar.readings("the window", "close the drawer", ["the drawer"], "")
    assert "open the drawer" in grammar.readings("open", "", [], "close the drawer")


def test_a_place_that_is_put_into_its_thing_is_swapped() -> None:
    assert grammar.is_swapped("put the hole on the peg", "put the peg into the hole")
    assert grammar.is_swapped("stack the green cube on the red cube", "put the red cube on the green cube")
    assert not grammar.is_swapped("put the peg in the hole", "put the peg into the hole")
    assert not grammar.is_swapped("fill the bowl with water", "pour the water into the bowl")


OPEN = State("the drawer", "open")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("if the drawer is open, close it", Passage("close it", OPEN)),
        ("close the drawer if it is open", Passage("close the drawer", State("it", "open"))),
        ("when the drawer is open, close it", Passage("close it", OPEN, wait=True)),
        (
            "unless the drawer is open, pull it out",
            Passage("pull it out", State("the drawer", "open", negated=True)),
        ),
        (
            "if the drawer is open, close it; otherwise press the button",
            Passage("close it", OPEN, otherwise="press the button"),
        ),
        ("press the button until the drawer is open", Passage("press the button", until=OPEN)),
        ("open and close the drawer three times", Passage("open and close the drawer", times=3)),
    ],
)
def test_conditions_and_repetitions_are_taken_off(sentence: str, expected: Passage) -> None:
    assert passages(sentence) == [expected]


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("open the drawer if the moon is in the seventh house of jupiter now", "condition"),
        ("press the button a thousand times", "at most 10 times"),
        ("whenever the drawer is open, close it", "all times"),
        ("do that twice", "repeat"),
        ("otherwise press the button", "otherwise"),
    ],
)
def test_what_is_half_understood_is_refused(sentence: str, reason: str) -> None:
    with pytest.raises(NoPlan, match=reason):
        passages(sentence)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("open the drawer by 5 cm", "measure"),
        ("open the drawer or the window", "choice"),
        ("open the drawer halfway", "part"),
        ("close everything", "several things"),
        ("open the drawer tomorrow", "another time"),
        ("he said 'open the drawer'", "quotes"),
    ],
)
def test_the_grammar_refuses(sentence: str, reason: str) -> None:
    assert reason in refused(sentence)


def test_negations_are_seen_through_short_forms() -> None:
    for said in ("don't open it", "dont open it", "you mustn't open it", "never open it", "leave it open"):
        assert negates(spelled_out(said)), said
        assert not only_tells(spelled_out(said)), said
    assert only_tells(spelled_out("I can't reach it"))
    assert not negates(spelled_out("don't forget to open it"))
    assert not negates(spelled_out("why don't you open it"))
