"""Orders that are not in plain English: slips of the finger are mended, other languages are told apart.

"Opne the darwer" is read as "open the drawer". A word is taken for a slip only if it is no common English word, and if
one change (two letters that changed places, then one too many, too few or wrong) leads to words of one meaning only.
The skills' own words and the verbs come first, then the small words of the language, "not" among them. What stays
unknown stays: the matcher asks, or refuses.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import product

from openral_core.errors import InstallationError
from openral_core.sentence import SentenceEncoder
from openral_reasoner.offline.rules.verbs import ALL_VERBS, PARTICLES
from openral_reasoner.palette import Palette
from openral_reasoner.vocabulary import DETERMINERS, FILLERS, MODIFIERS, object_stem, stem, words

SHORTEST = 3
"""Letters of the shortest word that is corrected."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PLAIN = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_BODY = frozenset(
    ["gripper", "grippers", "hand", "hands", "finger", "fingers", "arm", "claw", "effector", "tool"]
)
_FORBIDDING = frozenset(["not", "never", "without"])
"""They are read wherever they may be meant."""
_DECIDING = frozenset(["do", "if", "unless", "until", "when", "or", "but", "no"])
_ORDER = frozenset(["then", "after", "before", "twice", "times"])
_SMALL = FILLERS | DETERMINERS | MODIFIERS | _BODY | _FORBIDDING | _DECIDING | _ORDER


@lru_cache(maxsize=1)
def shared_encoder() -> SentenceEncoder:
    """The process's one encoder; the planner's parts share what it has read.

    Raises:
        InstallationError: its package is missing.
    """
    return SentenceEncoder()


def is_foreign(sentence: str, palette: Palette) -> bool:
    """Whether an order is in another language: letters that English has not, or words of which none is known."""
    said = words(sentence)
    if any(letter.isalpha() and not letter.isascii() for letter in sentence):
        return True
    known = _own_words(palette) | _SMALL
    return bool(said) and not any(word in known or stem(word) in ALL_VERBS for word in said)


class Speller:
    """Corrects an order before it is read."""

    def __init__(self, load: Callable[[], SentenceEncoder] = shared_encoder) -> None:
        """Begin without a dictionary.

        Args:
            load: gives the encoder, whose vocabulary is the dictionary, when the first unknown word comes. Without
                its package nothing is corrected.
        """
        self._load = load

    def corrected(self, sentence: str, palette: Palette) -> str:
        """The sentence with every slip mended that has one meaning only."""
        own = _own_words(palette)

        def mended(match: re.Match[str]) -> str:
            word = match[0].lower()
            if len(word) < SHORTEST or "'" in word or self._is_known(word, own):
                return match[0]
            for near, known in product((_swapped(word), _one_change(word)), (own, _SMALL)):
                found = [each for each in near if each in known or (known is own and self._is_verb(each))]
                if any(
                    len(each) > len(word) for each in found
                ):  # a letter is left out more often than typed too much
                    found = [each for each in found if len(each) >= len(word)]
                if forbids := _FORBIDDING.intersection(found):
                    return min(forbids)
                if found:
                    return found[0] if len({object_stem(each) for each in found}) == 1 else match[0]
            return match[0]

        return _PLAIN.sub(mended, sentence)

    def _is_known(self, word: str, own: frozenset[str]) -> bool:
        return word in own or word in _SMALL or stem(word) in ALL_VERBS or self._is_word(word)

    def _is_verb(self, word: str) -> bool:
        return stem(word) in ALL_VERBS and self._is_word(word)

    def _is_word(self, word: str) -> bool:
        return self._dictionary is None or self._dictionary.knows(word)

    @cached_property
    def _dictionary(self) -> SentenceEncoder | None:
        try:
            return self._load()
        except InstallationError as error:
            logging.getLogger(__name__).warning("slips of the finger are not mended: %s", error)
            return None


@lru_cache(maxsize=64)
def _of_phrases(phrases: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for phrase in phrases for word in words(phrase))


def _own_words(palette: Palette) -> frozenset[str]:
    """Words of the skills' phrases and objects, and those for a way."""
    said = [
        phrase for skill in palette.skills for task in skill.tasks for phrase in (task.phrase, *task.phrases)
    ]
    named = [name for skill in palette.skills for name in (*skill.objects, *skill.actions)]
    return _of_phrases((*said, *named)) | PARTICLES


def _swapped(word: str) -> list[str]:
    """Every spelling with two neighbours changed, the commonest slip."""
    return [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)]


def _one_change(word: str) -> list[str]:
    """Every spelling with a letter less, another, or more."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    less = [a + b[1:] for a, b in cuts if b]
    other = [a + letter + b[1:] for a, b in cuts if b for letter in _LETTERS]
    return [*less, *other, *(a + letter + b for a, b in cuts for letter in _LETTERS)]
