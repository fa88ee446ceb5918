from __future__ import annotations

import pytest

from openral_core.errors import ContractError
from openral_core.message_field_checks import goal_id_field, stamp_field, text_field


@pytest.mark.parametrize(
    "value", ["", "open the drawer", "öffne die Schublade", "打开抽屉", "👨‍👩‍👧 wave 🤖", "x" * 9]
)
def test_printable_text_passes_as_it_is(value):
    assert text_field("task", value, 20) == value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("x" * 21, "task has 21 characters; send at most 20"),
        ("x" * 10_000_000, "task has 10000000 characters; send at most 20"),
        ("open\x00the drawer", "task holds the control character '\\x00' at place 4; send printable text"),
        ("a\nb", "'\\n' at place 1"),
        ("\x1b[2J", "'\\x1b' at place 0"),
        ("a\x9bb", "'\\x9b' at place 1"),
        ("a\u2028b", "'\\u2028' at place 1"),
        ("\ud800", "'\\ud800' at place 0"),
    ],
)
def test_other_text_is_refused_with_the_field_and_what_to_send(value, why):
    with pytest.raises(ContractError) as refusal:
        text_field("task", value, 20)
    assert why in str(refusal.value)
    assert len(str(refusal.value)) < 100


@pytest.mark.parametrize("value", ["", "aa", "0123456789abcdef" * 2])
def test_a_goal_id_is_hexadecimal(value):
    assert goal_id_field("active_goal", value) == value


@pytest.mark.parametrize("value", ["g", "AA", "a" * 33, "aa\n", "f" * 5_000_000, "../../x", "\x00"])
def test_another_goal_id_is_refused(value):
    with pytest.raises(
        ContractError, match=r"active_goal is '.*send a UUID as 32 hexadecimal digits"
    ) as refusal:
        goal_id_field("active_goal", value)
    assert len(str(refusal.value)) < 200


def test_a_stamp_is_in_seconds():
    assert stamp_field("stamp", 3, 500_000_000) == pytest.approx(3.5)
    for sec, nanosec in ((-1, 0), (-(2**31), 0), (2**31 - 1, 0), (0, 10**9), (0, 2**32 - 1)):
        with pytest.raises(ContractError, match="stamp is"):
            stamp_field("stamp", sec, nanosec)
