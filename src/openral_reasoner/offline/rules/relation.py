"""Where an order says that something is to go: "on the green cube", "under it", "out of the bin".

Words alone do not tell "the red cube on the green one" from "the green cube on the red one"; this does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from openral_reasoner.vocabulary import COLOUR_STEMS, DETERMINERS, is_filler, object_stem

WAYS: dict[str, str] = {
    word: way
    for way, said in {
        "at": "to toward towards at into in inside on onto over atop",
        "under": "under underneath below beneath",
        "behind": "behind",
        "beside": "beside near by",
        "away": "from off",
    }.items()
    for word in said.split()
}
"""Preposition -> what it says of the place; those of one kind stand for each other in free speech."""


@dataclass(frozen=True)
class Relation:
    """One place of a clause."""

    way: str
    thing: frozenset[str]
    """Stems of the noun and its descriptions."""


def relations(tokens: list[str]) -> frozenset[Relation]:
    """Every place that a clause names.

    Args:
        tokens: its words, lower case.
    """
    found = set()
    for index, word in enumerate(tokens):
        way = "away" if word == "of" and tokens[max(index - 1, 0)] == "out" else WAYS.get(word)
        if way is None:
            continue
        thing = []
        for before, behind in pairwise(tokens[index:]):
            idle = is_filler(behind, before) and behind not in DETERMINERS
            if behind in WAYS or behind == "and" or idle:
                break
            thing.append(behind)
        named = frozenset(object_stem(name) for name in thing if name not in DETERMINERS)
        if named:
            found.add(Relation(way, named))
    return frozenset(found)


def contradict(
    said: frozenset[Relation], known: frozenset[Relation], told_apart: frozenset[str], places: frozenset[str]
) -> bool:
    """Whether an order puts something elsewhere than a task does.

    Args:
        said: by the order.
        known: by the task's examples.
        told_apart: descriptions by which the task tells its things apart (red, green).
        places: nouns where the task puts its object.
    """
    ways = {relation.way for relation in known}
    described = frozenset().union(*(relation.thing for relation in known))
    if told_apart & COLOUR_STEMS:
        told_apart |= COLOUR_STEMS
    for relation in said:
        if relation.way not in ways and relation.way != "at" and relation.thing & places:
            return True
        if known and relation.way == "at" and (relation.thing & told_apart) - described:
            return True
    return False
