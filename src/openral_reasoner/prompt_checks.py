"""Checks of a prompt before it is read as an order: its length, its characters, its id."""

from __future__ import annotations

import unicodedata
from collections import OrderedDict

from openral_reasoner.word_stems import MAX_CHARACTERS

MAX_ID = 64
"""Characters of a prompt's id, which goes into the mission record."""
MAX_SEEN = 1024
"""Ids that are remembered, the newest ones."""
_WHITE = "\n\r\t"
_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of writing, so that a text can look different from what it says."""


def why_refused(prompt_id: str, text: str) -> str:
    """Return why a prompt is refused whatever it says; empty: it is not."""
    if len(prompt_id) > MAX_ID or not prompt_id.isprintable():
        return f"its id is not a line of at most {MAX_ID} characters"
    if len(text) > MAX_CHARACTERS:
        return (
            f"it has {len(text)} characters, at most {MAX_CHARACTERS} are read; give me a few tasks at a time"
        )
    if not any(character.isalnum() for character in text):
        return "there are no words in it"
    odd = next((c for c in text if _is_odd(c)), None)
    if odd is not None:
        return f"it holds the control character U+{ord(odd):04X}; say it again without"
    return ""


def _is_odd(character: str) -> bool:
    return character in _DIRECTION or (
        unicodedata.category(character) in ("Cc", "Cs", "Cn") and character not in _WHITE
    )


class SeenIds:
    """The newest ids of prompts, so that none is executed twice."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def add(self, prompt_id: str) -> bool:
        """Remember an id, and return whether it was new."""
        prompt_id = prompt_id[: MAX_ID + 1]
        fresh = prompt_id not in self._ids
        self._ids[prompt_id] = None
        if len(self._ids) > MAX_SEEN:
            self._ids.popitem(last=False)
        return fresh
