"""When a playbook is meant: an order or a failure in other words than its own."""

from __future__ import annotations

from collections.abc import Iterable

from openral_reasoner.word_stems import FILLERS, stem, words


def means_one_of(sentence: str, sentences: Iterable[str]) -> bool:
    """Whether a sentence is one of some others, but for inflections and words without a meaning."""
    said = _meaning(sentence)
    return bool(said) and any(said == _meaning(other) for other in sentences)


def _meaning(sentence: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(sentence) if word not in FILLERS)
