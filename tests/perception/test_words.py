"""Which labels a phrase means, and what colours are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openral_core.errors import ContractError
from openral_perception.colours import COLOURS, colour_name
from openral_perception.geometry import NotLocatedError
from openral_perception.truth import TruePositions
from openral_perception.words import read_words

LABELS = ("cube", "door handle", "drawer handle", "tray")
ALSO = {"cube": ("block",), "drawer handle": ("grip",)}


@pytest.mark.parametrize(
    ("words", "labels", "colours"),
    [
        ("the cube", {"cube"}, set()),
        ("The red block!", {"cube"}, {"red"}),
        ("handle of the drawer", {"drawer handle"}, set()),
        ("the drawer", {"drawer handle"}, set()),
        ("a handle", {"door handle", "drawer handle"}, set()),
        ("the gray one", set(LABELS), {"grey"}),
        ("", set(LABELS), set()),
    ],
)
def test_a_phrase_means_labels_all_of_whose_words_it_may_use(words, labels, colours):
    wanted = read_words(words, LABELS, ALSO)
    assert (wanted.labels, wanted.colours) == (labels, colours)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("the banana", "the word 'banana'"),
        ("the cube tray", "all of this at once"),
        ("x" * 400, "x" * 30 + "'"),
    ],
)
def test_what_no_label_means_is_refused_with_what_there_is(words, reason):
    with pytest.raises(ContractError, match="it knows cube, door handle, drawer handle, tray") as refusal:
        read_words(words, LABELS, ALSO)
    assert reason in str(refusal.value)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((0.9, 0.1, 0.1), "red"),
        ((1.0, 0.55, 0.0), "orange"),
        ((0.95, 0.9, 0.1), "yellow"),
        ((0.1, 0.7, 0.2), "green"),
        ((0.2, 0.4, 0.75), "blue"),
        ((0.5, 0.1, 0.6), "purple"),
        ((0.4, 0.25, 0.1), "brown"),
        ((0.05, 0.05, 0.05), "black"),
        ((0.5, 0.5, 0.5), "grey"),
        ((0.95, 0.95, 0.95), "white"),
    ],
)
def test_colours_have_their_usual_names(rgb, name):
    assert colour_name(rgb) == name


@given(st.tuples(*[st.floats(-0.5, 1.5)] * 3))
def test_every_colour_has_a_name(rgb):
    assert colour_name(rgb) in COLOURS


def test_the_simulators_things_of_one_noun_are_told_apart_by_their_colours():
    red, green, can = np.eye(3)
    truth = TruePositions(0.0, 0.0, {"red cube": red, "green_cube": green, "can": can})
    assert truth.find("the green cube", 1.0)[0] == "green_cube"
    assert truth.find("red cube", 1.0)[1] is red
    assert truth.find("the red can", 1.0)[0] == "can", "it has no colour in its name"
    with pytest.raises(NotLocatedError, match="may be green cube, red cube; name one"):
        truth.find("the cube", 1.0)


def test_a_thing_of_another_colour_is_not_meant():
    truth = TruePositions(0.0, 0.0, {"red_cube": np.zeros(3), "can": np.ones(3)})
    with pytest.raises(NotLocatedError, match="'the blue cube' is not there; there is red cube"):
        truth.find("the blue cube", 1.0)
    assert truth.find("the blue one", 1.0)[0] == "can", "whose colour is not known"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cube-1", "cube-1"),
        ("t-shirt", "the t-shirt"),
        ("kitchen/cup", "the cup of the kitchen"),
        ("gray_box", "the gray box"),
        ("gray_box", "the grey box"),
        ("Violet.Box", "the purple box"),
        ("object", "the object"),
        ("cup", "a cup"),
    ],
)
def test_things_are_called_by_the_words_of_their_names(name, words):
    others = {other: np.zeros(3) for other in ("cube-2", "cap", "red_box", "cup_holder")}
    assert TruePositions(0.0, 0.0, {**others, name: np.ones(3)}).find(words, 1.0)[0] == name
