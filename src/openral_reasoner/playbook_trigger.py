"""Whether an order, or the words of a task that failed, matches one that a playbook is written for."""

from __future__ import annotations

from collections.abc import Iterable

from openral_reasoner.word_stems import FILLERS, stem, words


def means_one_of(sentence: str, sentences: Iterable[str]) -> bool:
    """Return whether a sentence equals one of some others, apart from inflections and the words of `FILLERS`."""
    said = _meaning(sentence)
    return bool(said) and any(said == _meaning(other) for other in sentences)


def _meaning(sentence: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(sentence) if word not in FILLERS)
