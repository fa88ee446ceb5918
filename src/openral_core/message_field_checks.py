"""Validation of single fields of messages and requests from the graph, which are untrusted.

Each function returns the value, or raises a ContractError that names the field, its fault and what would be valid. The
text quotes at most a few characters of the value.
"""

from __future__ import annotations

import re
import unicodedata

from openral_core.errors import ContractError

MAX_WORDS = 500
"""Largest length of a task's sentence or another sentence of a person, in characters."""
MAX_INSTRUCTION = 1000
"""Largest length of a goal's instruction, in characters."""
MAX_NAME = 60
"""Largest length of the name of a camera, a task or a joint, in characters."""
MAX_SEC = 2**31 - 1
"""[s] bound below which stamps must be, so that one which was rounded to a float still fits into a message."""
_SHOWN = 20
"""Largest number of characters of an invalid value that an error quotes."""
_GOAL_ID = re.compile(r"[0-9a-f]{1,32}")


def text_field(field: str, value: str, longest: int) -> str:
    """Return a text if it has at most `longest` characters and no control characters; it may be empty.

    Raises:
        ContractError: it is longer, or contains control characters, line breaks or lone surrogates.
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
    """Return the id of a goal if it is 1 to 32 lower-case hexadecimal digits without dashes, or empty for no goal.

    Raises:
        ContractError: it is not.
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
        ContractError: it is negative or not below `MAX_SEC`, or its nanoseconds are not below 1e9.
    """
    if not 0 <= sec < MAX_SEC or not 0 <= nanosec < 1_000_000_000:
        raise ContractError(
            f"{field} is {sec} s and {nanosec} ns; send 0 to {MAX_SEC - 1} s and less than 1e9 ns"
        )
    return sec + nanosec * 1e-9
