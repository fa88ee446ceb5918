"""What one clause asks for, comparable with a manifest: its actions, and the words about the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openral_reasoner.offline.rules.relation import Relation, relations
from openral_reasoner.offline.rules.verbs import (
    DAMAGING,
    DECIDING_PARTICLES,
    OTHER_VERBS,
    STATE_VERBS,
    STRONG_VERBS,
    WEAK_ALONE,
    WEAK_VERBS,
)
from openral_reasoner.vocabulary import (
    DETERMINERS,
    PARTIAL,
    PRONOUNS,
    is_filler,
    is_manner,
    object_stem,
    stem,
    words,
)

SURE = 0.9
"""Weight from which an action counts as said in a task of several clauses."""
_STATES = frozenset({"open", "close", "lock", "unlock"})
"""Actions whose word is a state of things, too: an open drawer."""
_STATE_NOUNS = frozenset({"position", "state"})
_PLACING = frozenset(
    {
        "to",
        "toward",
        "towards",
        "at",
        "into",
        "in",
        "on",
        "onto",
        "under",
        "behind",
        "below",
        "over",
        "beside",
    }
)
_CARRYING = frozenset({"to", "onto", "into"})
_PARTICLES = frozenset({particle for _, particle in DECIDING_PARTICLES} | {"inwards", "outwards"})


@dataclass(frozen=True)
class Meaning:
    """The reading of one clause."""

    actions: Mapping[str, float]
    """Action -> weight 0..1; empty when no known verb decides it."""
    verb: tuple[str, ...]
    """Stems of verb and particle as said, ("slid", "out"): compared with the skills' own phrases."""
    things: frozenset[str]
    """Stems of all other words that carry meaning: the object, its descriptions, places."""
    said: frozenset[str] = frozenset()
    """Actions of the strong verbs; more than one is a contradiction, unless a task has them all."""
    particle: str = ""
    """The particle that decided a weak verb: the "out" of "pull … out"."""
    places: frozenset[str] = frozenset()
    """Stems of nouns behind "to the", "in the", "on the": where something is to go, or is."""
    relations: frozenset[Relation] = frozenset()
    """What it says of places, with their descriptions."""
    unchanged: bool = False
    """A request to change nothing."""
    foreign: str = ""
    """Stem of a leading verb that means something else than any action; empty: there is none."""
    raw: frozenset[str] = field(default=frozenset(), compare=False)
    """Stems of all words but the fillers: two clauses with the same ones say the same."""


def analyse(text: str, extra_verbs: frozenset[str] = frozenset()) -> Meaning:
    """Read a clause such as "pull the open drawer shut", or a task of several, "pick up the cup and put it down".

    Args:
        text: one task, as `openral_reasoner.offline.rules.parser` cuts it.
        extra_verbs: stems of verbs that only the skills at hand know ("hammer").
    """
    parts = [_analyse(part, extra_verbs) for part in text.split(" and ")]
    if len(parts) == 1:
        return parts[0]
    actions: dict[str, float] = {}
    for part in parts:
        for name, weight in part.actions.items():
            actions[name] = max(weight, actions.get(name, 0.0))
    return Meaning(
        actions=actions,
        verb=(),
        things=frozenset().union(*(part.things for part in parts)),
        said=frozenset(name for part in parts for name, weight in part.actions.items() if weight >= SURE),
        places=frozenset().union(*(part.places for part in parts)),
        relations=frozenset().union(*(part.relations for part in parts)),
        unchanged=any(part.unchanged for part in parts),
        foreign=next((part.foreign for part in parts if part.foreign), ""),
        raw=frozenset().union(*(part.raw for part in parts)),
    )


def _analyse(clause: str, extra_verbs: frozenset[str]) -> Meaning:
    """Read one clause.

    A word of state between a determiner and a noun ("the open drawer") describes the object and is no
    order; after another verb ("push … shut", "slide open …") it decides the verb.
    """
    tokens = words(clause)
    roots = [stem(word) for word in tokens]
    nouns = {
        i for i in range(1, len(tokens)) if tokens[i - 1] in DETERMINERS and not _describes(tokens, roots, i)
    }
    attributive = {i for i in range(1, len(tokens)) if tokens[i - 1] in DETERMINERS} - nouns
    idle = nouns | attributive
    weak_at = next((i for i, root in enumerate(roots) if root in WEAK_VERBS and i not in idle), None)
    strong_at = [i for i, root in enumerate(roots) if root in STRONG_VERBS and i not in idle]
    extra_at = next((i for i, root in enumerate(roots) if root in extra_verbs and i not in idle), None)
    particle_at = _particle(tokens, weak_at)
    manner = _manner_verb(tokens, roots, strong_at)
    if manner and strong_at[0] == 0:
        strong_at = strong_at[1:]

    used = {*strong_at, *attributive, *([0] if manner else [])}
    actions: dict[str, float] = {}
    verb: list[str] = []
    if weak_at is not None:
        used.add(weak_at)
        verb.append(roots[weak_at])
        actions = dict(WEAK_ALONE.get(roots[weak_at], {}))
        if particle_at is not None:
            particle = tokens[particle_at].removesuffix("s")
            used.add(particle_at)
            verb.append(particle)
            actions = dict(DECIDING_PARTICLES.get((roots[weak_at], particle), {}))
    if strong_at:
        actions = dict.fromkeys((STRONG_VERBS[roots[i]] for i in strong_at), 1.0)
        verb = [roots[strong_at[0]]] if weak_at is None else [*verb[:1], roots[strong_at[0]]]
        if set(actions) == {"pick"} and _CARRYING.intersection(tokens):
            actions |= {"carry": 0.9, "place": 0.7}  # "lift the red cube onto the green cube"
    elif weak_at is None and extra_at is not None:
        used.add(extra_at)
        verb = [roots[extra_at]]
        actions = {roots[extra_at]: 1.0}
    carries = [_carries(word, before) for before, word in zip(["", *tokens], tokens, strict=False)]
    rest = [word for i, word in enumerate(tokens) if i not in used and carries[i]]
    known = roots[:1] and (roots[0] in STRONG_VERBS or roots[0] in WEAK_VERBS or roots[0] in extra_verbs)
    return Meaning(
        actions=actions,
        verb=tuple(verb),
        things=frozenset(object_stem(word) for word in rest),
        said=frozenset(STRONG_VERBS[roots[i]] for i in strong_at),
        particle=verb[1] if particle_at is not None and not strong_at else "",
        places=_places(tokens),
        relations=relations(tokens),
        unchanged=any(root in STATE_VERBS for root in roots),
        foreign=roots[0] if roots and not known and not manner and roots[0] in OTHER_VERBS else "",
        raw=frozenset(object_stem(word) for i, word in enumerate(tokens) if carries[i] or i == particle_at),
    )


def _describes(tokens: list[str], roots: list[str], index: int) -> bool:
    """Whether the word behind a determiner is a word of state before a noun: "the open drawer"."""
    state = STRONG_VERBS.get(roots[index]) in _STATES
    last = index + 1 == len(tokens)
    return state and not last and tokens[index + 1] not in _STATE_NOUNS


def _manner_verb(tokens: list[str], roots: list[str], strong_at: list[int]) -> bool:
    """Whether the first word only says how a word of state at the end comes true: "kick the door open"."""
    if not roots or roots[0] in WEAK_VERBS or roots[0] in DAMAGING or tokens[1:2] == []:
        return False
    last = strong_at[-1] if strong_at else 0
    ends = bool(last) and not any(_carries(word) for word in tokens[last + 1 :])
    blow = roots[0] not in STRONG_VERBS or STRONG_VERBS[roots[0]] == "press"
    others = [i for i in strong_at if i not in (0, last)]
    return ends and blow and not others and tokens[1] in DETERMINERS and STRONG_VERBS[roots[last]] in _STATES


def _particle(tokens: list[str], verb_at: int | None) -> int | None:
    """Index of the particle that belongs to a weak verb: right behind it, or at the end of the clause."""
    if verb_at is None:
        return None
    after = range(verb_at + 1, len(tokens))
    for index in after:
        last = all(not _carries(word) for word in tokens[index + 1 :])
        place = tokens[index + 1 : index + 2] and tokens[index + 1] in _PLACING  # "set it down on …"
        if tokens[index] in _PARTICLES and (index == verb_at + 1 or last or place):
            return index
    return None


def _places(tokens: list[str]) -> frozenset[str]:
    """The last word of each noun phrase behind a preposition of place and a determiner."""
    found = set()
    for index in range(2, len(tokens)):
        behind = index + 1 == len(tokens) or not _carries(tokens[index + 1])
        begins = next((i for i in (index - 1, index - 2) if i > 0 and tokens[i] in DETERMINERS), 0)
        if begins and behind and tokens[begins - 1] in _PLACING:
            found.add(object_stem(tokens[index]))
    return frozenset(found)


def _carries(word: str, before: str = "") -> bool:
    return word in PARTIAL or not (
        is_filler(word, before) or word in PRONOUNS or word in _STATE_NOUNS or is_manner(word)
    )
