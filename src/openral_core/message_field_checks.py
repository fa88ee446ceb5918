"""Checks of single fields of messages and requests that come from the graph, where anybody may send anything.

Each function returns the value that it was given, or raises a ContractError that names the field, what is wrong with
it and what would be right. No text repeats more than a few characters of what came.
"""

from __future__ import annotations

import re
import unicodedata

from openral_core.errors import ContractError

MAX_WORDS = 500
"""Characters of an instruction, of a task's words, or of anything else that a person says in one sentence."""
MAX_NAME = 60
"""Characters of the name of a camera, of a task, of a joint."""
MAX_SEC = 2**31 - 1
"""[s] No stamp reaches it, so that a stamp that was rounded to a float still fits into a message."""
_SHOWN = 20
"""Characters of a bad value that a message repeats."""
_GOAL_ID = re.compile(r"[0-9a-f]{1,32}")


def text_field(field: str, value: str, longest: int) -> str:
    """Return a text of at most `longest` characters without control characters; it may be empty.

    Raises:
        ContractError: it is longer, or holds control characters, line breaks or lone surrogates.
    """
    if len(value) > longest:
        raise ContractError(f"{field} has {len(value)} characters; send at most {longest}")
    for place, character in enumerate(value):
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            raise ContractError(
                f"{field} holds the control character {character!a} at place {place}; send printable text"
            )
    return value


def goal_id_field(field: str, value: str) -> str:
    """Return the id of a goal: a UUID as lower-case hexadecimal digits, without dashes; empty: no goal.

    Raises:
        ContractError: it is something else.
    """
    if value and not _GOAL_ID.fullmatch(value):
        shown = ascii(value[:_SHOWN])
        raise ContractError(
            f"{field} is {shown}, {len(value)} characters; send a UUID as 32 hexadecimal digits"
        )
    return value


def stamp_field(field: str, sec: int, nanosec: int) -> float:
    """Return a `builtin_interfaces/Time` as seconds.

    Raises:
        ContractError: it is before 0, not below MAX_SEC, or its nanoseconds make a whole second.
    """
    if not 0 <= sec < MAX_SEC or not 0 <= nanosec < 1_000_000_000:
        raise ContractError(
            f"{field} is {sec} s and {nanosec} ns; send 0 to {MAX_SEC - 1} s and less than 1e9 ns"
        )
    return sec + nanosec * 1e-9
