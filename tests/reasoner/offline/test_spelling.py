"""Slips of the finger are corrected where they have one meaning; other languages are told so."""

from __future__ import annotations

import re

import pytest

from openral_reasoner.evaluation.suite import FREE, load_suite
from openral_reasoner.offline import OfflinePlanner
from openral_reasoner.offline.clause_matcher import LearnedMatcher
from openral_reasoner.offline.spelling import corrected, is_foreign
from openral_reasoner.planner import Ask, CannotDo

PALETTE = load_suite(FREE[0]).palette


@pytest.fixture(scope="module")
def matcher() -> LearnedMatcher:
    return LearnedMatcher()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("opne the darwer", "open the drawer"),
        ("shut the widnow", "shut the window"),
        ("pres the buton", "press the button"),
        ("puhs the puck", "push the puck"),
        ("lock the drawer", "lock the drawer"),
        ("open the cupboard", "open the cupboard"),
        ("yank the door open", "yank the door open"),
        ("the drawer's handle", "the drawer's handle"),
    ],
)
def test_a_slip_is_corrected_and_a_word_is_left(matcher: LearnedMatcher, typed: str, meant: str) -> None:
    assert corrected(typed, PALETTE, matcher.encoder.vocabulary, matcher.words)[0] == meant


@pytest.mark.parametrize(
    "order", ["juggle the cubes", "paint the darwer red", "jiggel the puck and the buton"]
)
def test_a_refusal_quotes_what_was_typed(order: str) -> None:
    answer = OfflinePlanner().plan(order, PALETTE)
    assert isinstance(answer, CannotDo | Ask)
    assert set(re.findall(r"\w+", answer.sentence.split('"')[1])) <= set(order.split())


@pytest.mark.parametrize(
    "order",
    ["öffne die Schublade", "открой ящик", "按下按钮"],
)
def test_other_languages_are_told_what_is_understood(order: str) -> None:
    answer = OfflinePlanner().plan(order, PALETTE)
    assert isinstance(answer, CannotDo)
    assert f'I understand English only, and "{order}" seems to be none' in answer.sentence
    assert "language model" in answer.sentence


@pytest.mark.parametrize(
    "order", ["make me a coffee", "open the cupboard", "opne the drawer", "window!", "stack cubes"]
)
def test_english_is_no_other_language(matcher: LearnedMatcher, order: str) -> None:
    assert not is_foreign(order, PALETTE, matcher.encoder.vocabulary)
