from __future__ import annotations

import math

import pytest

from openral_core.errors import ContractError
from openral_reward_monitor.query_request import QueryRequest, parse_query


def parse(window_s: float = 0.0, task: str = "", camera: str = "", fresh: bool = False) -> QueryRequest:
    return parse_query(window_s, task, camera, fresh)


def test_a_request_keeps_what_it_asks_for():
    wanted = QueryRequest(window_s=2.5, task="open the drawer", camera="corner2", fresh=True)
    assert parse(2.5, "  open the drawer ", "corner2", True) == wanted


@pytest.mark.parametrize("window_s", [0.0, -0.0, -1.0, -5e-324, -1.7976931348623157e308])
def test_no_window_is_the_whole_attempt(window_s):
    assert parse(window_s).window_s == 0.0


@pytest.mark.parametrize("window_s", [5e-324, 1.0, 3600.0])
def test_a_window_may_be_as_long_as_an_hour(window_s):
    assert parse(window_s).window_s == window_s


@pytest.mark.parametrize("window_s", [math.nan, math.inf, -math.inf, 3600.1, 1.7976931348623157e308])
def test_a_window_of_no_length_is_refused(window_s):
    with pytest.raises(
        ContractError, match=r"window_s is .*; send at most 3600 s, or 0 for the whole attempt"
    ):
        parse(window_s)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task", "x" * 501),
        ("task", "open\x00it"),
        ("camera", "x" * 501),
        ("camera", "a\nb"),
        ("camera", "x" * 10**7),
    ],
)
def test_texts_that_are_no_words_are_refused_by_the_name_of_the_field(field, value):
    with pytest.raises(ContractError, match=f"^{field} ") as refusal:
        parse(**{field: value})
    assert len(str(refusal.value)) < 100


def test_words_may_be_as_long_as_a_sentence():
    assert len(parse(task="x" * 500).task) == 500
