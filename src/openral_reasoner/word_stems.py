"""Words of a text, their stems, and the limits of what is read as an order; for all who compare texts by words."""

from __future__ import annotations

import re

MAX_CHARACTERS = 1000
"""Longer texts are refused: no order is that long, and the planner's time grows with the length."""
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_IRREGULAR = {
    "taken": "take",
    "brought": "bring",
    "driven": "drive",
    "drawn": "draw",
    "swung": "swing",
    "thrown": "throw",
    "sent": "send",
    "held": "hold",
    "went": "go",
    "gone": "go",
    "kept": "keep",
}
_VOWELS = "aeiou"


def words(text: str) -> list[str]:
    """Lower-case words of a text, in order; all but letters and digits separates; no possessive "'s"."""
    return [
        word.removesuffix("'s") for word in _WORD.findall(text.lower().replace("’", "'").replace("_", " "))
    ]


def stem(word: str) -> str:
    """Cut an English word to the form in which its inflections agree: closing, closes, closed, close ->
    clos.

    Only what verbs and plain plurals need; words of up to three letters stay as they are.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3:
        return word
    if len(word) > 5 and word.endswith(("ied", "ies")):
        return word[:-3] + "y"
    for ending, rest in (("ing", 3), ("ed", 2)):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= rest and any(letter in _VOWELS + "y" for letter in base):
            doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeslz"
            return (base[:-1] if doubled else base).removesuffix("e")
    if word.endswith("es") and word[:-2].endswith(("sh", "ch", "ss", "x", "z")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_FILLERS = (
    "please kindly just now also too again so ok okay well hey hi hello robot arm sawyer thanks thank you "
    "can could will would should shall must may might i we us me my i'd i'll we'll you'd like want need "
    "wants needs to be is are was gets been being sure ensure let lets go ahead try help make made do "
    "have has had got it'd mind time your task job of for with by the a an this that these those both "
    "there then and its his her their our some fully completely entirely all way wide up back off along "
    "across over tight once on at onto toward towards stand ought supposed straight hard sitting standing "
    "lying resting high "
)
FILLERS: frozenset[str] = frozenset(_FILLERS.split())
"""Words that carry no task."""
