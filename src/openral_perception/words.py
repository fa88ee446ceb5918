"""Which of a closed set of labels, and which colours, a phrase names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openral_core.errors import ContractError
from openral_perception.colours import ALSO, COLOURS

PLAIN = re.compile(r"an?|the|of|on|in|at|to|this|that|my|its|with|from|is|one|thing|object")
"""Words that say nothing about what or which."""
_SHOWN = 30
"""Characters of an unknown word that a message repeats."""


@dataclass(frozen=True)
class Wanted:
    """What a phrase asks for."""

    labels: frozenset[str]
    """Labels that it may mean."""
    colours: frozenset[str]
    """Colours that it names; empty: any."""


def read_words(words: str, labels: Sequence[str], synonyms: Mapping[str, Sequence[str]]) -> Wanted:
    """Return what a phrase asks for.

    A label is meant if every word of the phrase, apart from articles and colours, is one of the label's own or one of
    its synonyms: "the drawer" and "the handle of the drawer" both mean a drawer handle, and "the handle" every handle.

    Args:
        words: the phrase; empty or only a colour: every label.
        labels: those there are.
        synonyms: label -> other words for it.

    Raises:
        ContractError: no label fits; the text says what is known.
    """
    said = [ALSO.get(word, word) for word in re.findall(r"\w+", words.lower())]
    colours = frozenset(word for word in said if word in COLOURS)
    telling = {word for word in said if not PLAIN.fullmatch(word) and word not in colours}
    own = {label: {*label.split(), *synonyms.get(label, ())} for label in labels}
    meant = frozenset(label for label in labels if telling <= own[label])
    if not meant:
        unknown = sorted(telling - set().union(*own.values()))
        what = f"the word '{unknown[0][:_SHOWN]}'" if unknown else "things that are all of this at once"
        raise ContractError(
            f"nothing here knows {what}; it knows {', '.join(labels)}, and the colours {', '.join(COLOURS)}"
        )
    return Wanted(meant, colours)
