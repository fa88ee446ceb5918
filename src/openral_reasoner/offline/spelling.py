"""Corrects typing errors that have one correction: "opne the darwer" is read as "open the drawer".

A word is corrected only if it is no whole word of the encoder's vocabulary, and if one change (two letters swapped, one
added, missing or wrong) leads to exactly one word of the skills, or else of the words that orders are made of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from openral_reasoner.palette import Palette
from openral_reasoner.word_stems import words

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"(?<![\w'])[a-z]{3,}(?![\w'])")
_FOREIGN = re.compile(r"[^\x00-\x7f‘’“”–—…°é]")


def corrected(
    text: str, palette: Palette, dictionary: Mapping[str, int], common: Collection[str]
) -> tuple[str, dict[str, str]]:
    """Return a text in lower case with typing errors corrected, and correction -> word as it was typed.

    Args:
        text: of the operator.
        palette: whose words take precedence.
        dictionary: whole words that are never corrected.
        common: other words that orders are made of.
    """
    known = palette.words
    typed: dict[str, str] = {}

    def fixed(match: re.Match[str]) -> str:
        word = match[0]
        if word in known or word in dictionary:
            return word
        near = _one_change(word)
        ours = sorted(near & known) or sorted(
            w for w in near.intersection(common) if w[0] == word[0] and w[-1] == word[-1]
        )
        if len(ours) == 1 or (ours and sorted(ours[0]) == sorted(word)):
            typed[ours[0]] = word
            return ours[0]
        return word

    return _WORD.sub(fixed, text.lower()), typed


def as_typed(answer: str, typed: Mapping[str, str]) -> str:
    """Return an answer with its quotations of the order as they were typed."""
    return re.sub(r'"[^"]*"', lambda quoted: _WORD.sub(lambda w: typed.get(w[0], w[0]), quoted[0]), answer)


def is_foreign(text: str, palette: Palette, dictionary: Mapping[str, int]) -> bool:
    """Return whether a text seems to be of another language, by letters that English lacks or without English words."""
    said, known = words(text), palette.words
    if any(_FOREIGN.match(c) for c in text if c.isalpha()) and known.isdisjoint(said):
        return True
    return bool(said) and not any(w in known or w in dictionary or _one_change(w) & known for w in said)


def _one_change(word: str) -> set[str]:
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    found = {a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1}
    found |= {a + c + rest for a, b in splits for c in ("", *_LETTERS) for rest in (b, b[1:])}
    return found - {word}
