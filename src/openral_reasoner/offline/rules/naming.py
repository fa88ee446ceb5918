"""How an order names the things of the skills at hand, brought to one form: "drawer" and "those cubes" get their "the".

Telegraphic orders ("peg into hole", "window should be closed") leave the article out, and "place red on green" the
noun. The rules behind this one know a thing by its article.
"""

from __future__ import annotations

import re

from openral_reasoner.offline.rules.entries import entries_of
from openral_reasoner.offline.rules.verbs import PARTICLES, is_verb
from openral_reasoner.palette import Palette
from openral_reasoner.vocabulary import COLOURS, DETERMINERS, FILLERS, MODIFIERS, object_stem, stem

_TOKEN = re.compile(r"[a-z0-9']+|[^a-z0-9'\s]|\s+")
_OTHER_DETERMINERS = re.compile(
    r"\b(?:those|these|our|yon|the said)(?= [a-z]+)(?! (?:two|three|are|were|is)\b)"
)
_PREPOSITIONS = PARTICLES | frozenset(
    ["to", "at", "onto", "with", "of", "over", "towards", "toward", "for", "atop", "inside"]
)
_STATES = frozenset(["open", "closed", "shut", "opened"])
_JOINING = frozenset(["and", "then", "plus", "or", "also", "now", "please", "so", "but", "if", "that"])
_ENDING = _PREPOSITIONS | _JOINING | frozenset(["atop", "first", "again"])
_MODAL_OR_NOUN = frozenset(["can", "tin", "bin"])
_ASKED = frozenset(
    ["goes", "go", "into", "in", "to", "needs", "should", "belongs", "wants", "must", "inside", "has"]
)


def named(text: str, palette: Palette) -> str:
    """Put articles before the skills' things, and a "one" behind a colour that stands for a thing.

    Args:
        text: an order, lower case, without contractions.
        palette: whose things are meant.
    """
    things, colours = _things(palette)
    text = _OTHER_DETERMINERS.sub("the", text)
    tokens = _TOKEN.findall(text)
    at = [i for i, token in enumerate(tokens) if token[0].isalnum()]
    said = [tokens[i] for i in at]
    for place, word in enumerate(said):
        if place and "," in "".join(tokens[at[place - 1] : at[place]]):
            before = ","
        else:
            before = said[place - 1] if place else ""
        behind = said[place + 1] if place + 1 < len(said) else ""
        punctuated = "".join(tokens[at[place] + 1 : at[place] + 3]).strip()[:1] in tuple(",.;:!?")
        bare_colour = word in colours and (not behind or behind in _ENDING or punctuated)
        if bare_colour and object_stem(word) not in things and before != "one":
            tokens[at[place]] = f"{word} one" if before in DETERMINERS else f"the {word} one"
        elif object_stem(word) in things and _is_noun(word, before, behind):
            begins = place
            while begins and said[begins - 1] in MODIFIERS and object_stem(said[begins - 1]) not in things:
                begins -= 1
            front, further = said[begins - 1] if begins else "", said[begins - 2] if begins > 1 else ""
            if _may_begin(front) and not (front in _STATES and further in DETERMINERS):
                tokens[at[begins]] = f"the {tokens[at[begins]]}"
    return "".join(tokens)


def _is_noun(word: str, before: str, behind: str) -> bool:
    """Whether a word that may be a verb or a modal verb is meant as a thing: "put can in bin", not "can you"."""
    if word in _MODAL_OR_NOUN:
        verb_before = bool(before) and is_verb(before)
        at_noun = not behind or behind in _ASKED or behind in _PREPOSITIONS
        return (verb_before or before in ("", "into", "in", "to", "the")) and at_noun
    return not is_verb(word)


def _may_begin(before: str) -> bool:
    """Whether a noun phrase without an article may begin behind this word."""
    if before in DETERMINERS or before.endswith("'s"):
        return False
    return (
        not before
        or is_verb(before)
        or before in _PREPOSITIONS
        or before in _JOINING
        or before in ("close", "shut")
    )


def _things(palette: Palette) -> tuple[frozenset[str], frozenset[str]]:
    """Stems of the things and places of all tasks, and the colours that tell them apart."""
    entries = entries_of(palette)
    described = frozenset(stem(word) for word in MODIFIERS | FILLERS)
    named_things = (
        frozenset().union(*(entry.objects | entry.places for entry in entries)) if entries else frozenset()
    )
    colours = frozenset(word for word in COLOURS if any(stem(word) in entry.vocabulary for entry in entries))
    return frozenset(each for each in named_things if each not in described and not is_verb(each)), colours
