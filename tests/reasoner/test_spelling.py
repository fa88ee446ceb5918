"""Slips of the finger are mended where they have one meaning; other languages are told so."""

from __future__ import annotations

from typing import NoReturn

import pytest

from openral_core.errors import InstallationError
from openral_reasoner.evaluation.suite import FREE, load_suite
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.offline.rules.spelling import Speller, is_foreign
from openral_reasoner.planner import CannotDo

PALETTE = load_suite(FREE[0]).palette


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("opne the darwer", "open the drawer"),
        ("shut teh widnow", "shut the window"),
        ("pres the buton", "press the button"),
        ("nver press the button", "never press the button"),
        ("dont open the drawer", "dont open the drawer"),
        ("puhs the puck", "push the puck"),
        ("opn the drawer", "open the drawer"),
        ("lock the drawer", "lock the drawer"),
        ("open the cupboard", "open the cupboard"),
        ("yank the door open", "yank the door open"),
    ],
)
def test_a_slip_is_corrected_and_a_word_is_left(typed: str, meant: str) -> None:
    assert Speller().corrected(typed, PALETTE) == meant


def test_a_slip_with_two_meanings_is_left() -> None:
    assert Speller().corrected("pul the drawer", PALETTE) == "pul the drawer"  # pull, push, put


def test_without_the_dictionary_nothing_is_corrected(caplog: pytest.LogCaptureFixture) -> None:
    def missing() -> NoReturn:
        raise InstallationError("the sentence encoder is not installed")

    assert Speller(missing).corrected("opne the drawer", PALETTE) == "opne the drawer"
    assert "the sentence encoder is not installed" in caplog.text


@pytest.mark.parametrize(
    "order",
    [
        "öffne die Schublade",
        "ouvre le tiroir",
        "abre la ventana",
        "chiudi la finestra",
        "открой ящик",
        "按下按钮",
        "ouvrir",
    ],
)
def test_other_languages_are_told_what_is_understood(order: str) -> None:
    answer = OfflinePlanner().plan(order, PALETTE)
    assert isinstance(answer, CannotDo)
    assert f'I understand English only, and "{order}" seems to be none' in answer.sentence
    assert "language model" in answer.sentence


@pytest.mark.parametrize(
    "order", ["make me a coffee", "open the cupboard", "opne the drawer", "window!", "stack cubes"]
)
def test_english_is_no_other_language(order: str) -> None:
    assert not is_foreign(order, PALETTE)
