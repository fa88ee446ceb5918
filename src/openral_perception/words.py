"""Reads from a phrase which labels of a closed set, and which colours, it names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openral_core.errors import ContractError
from openral_perception.colours import ALSO, COLOURS

PLAIN = re.compile(r"an?|the|of|on|in|at|to|this|that|my|its|with|from|is|one|thing|object")
"""Words that are ignored, since they name neither a label nor a colour."""
_SHOWN = 30
"""Most characters of an unknown word in a message."""


@dataclass(frozen=True)
class Wanted:
    """Labels and colours that a phrase names."""

    labels: frozenset[str]
    """Labels that the phrase may mean."""
    colours: frozenset[str]
    """Colours that it names; empty: any colour fits."""


def words_of(text: str) -> list[str]:
    """Return the words of a phrase or a label in small letters, with `COLOURS` in place of their synonyms."""
    return [ALSO.get(word, word) for word in re.findall(r"\w+", text.lower())]


def read_words(words: str, labels: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> Wanted:
    """Return the labels and colours that a phrase names.

    A label is meant if every word of the phrase, apart from articles and colours, is one of the label's own or one of
    its synonyms: "the drawer" and "the handle of the drawer" both mean a drawer handle, and "the handle" every handle.

    Args:
        words: the phrase; if it is empty or only a colour, it means every label.
        labels: all labels.
        synonyms: label -> single words that also stand for it.

    Raises:
        ContractError: no label fits; the text lists the known labels and colours.
    """
    said = words_of(words)
    colours = frozenset(word for word in said if word in COLOURS)
    telling = {word for word in said if not PLAIN.fullmatch(word) and word not in colours}
    own = {label: {*words_of(label), *synonyms.get(label, ())} for label in labels}
    meant = frozenset(label for label in labels if telling <= own[label])
    if not meant:
        unknown = sorted(telling - set().union(*own.values()))
        what = f"the word '{unknown[0][:_SHOWN]}'" if unknown else "things that are all of this at once"
        raise ContractError(
            f"nothing here knows {what}; it knows {', '.join(labels)}, and the colours {', '.join(COLOURS)}"
        )
    return Wanted(meant, colours)
