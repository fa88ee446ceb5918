"""What one clause asks for, comparable with a manifest: its actions, and the words about the object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openral_reasoner.vocabulary import (
    DECIDING_PARTICLES,
    DETERMINERS,
    FILLERS,
    OBJECT_SYNONYMS,
    PARTIAL,
    STATE_VERBS,
    STRONG_VERBS,
    WEAK_ALONE,
    WEAK_VERBS,
    is_manner,
    stem,
    words,
)

_STATE_NOUNS = frozenset({"position", "state"})
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
    conflict: bool = False
    """Two actions that contradict each other, or a request to change nothing."""
    raw: frozenset[str] = field(default=frozenset(), compare=False)
    """Stems of all words but the fillers: two clauses with the same ones say the same."""


def object_stem(word: str) -> str:
    """Stem of a noun, with synonyms brought to one name."""
    root = stem(word)
    return OBJECT_SYNONYMS.get(root, root)


def analyse(clause: str, extra_verbs: frozenset[str] = frozenset()) -> Meaning:
    """Read a clause such as "pull the open drawer shut".

    Args:
        clause: one task, as `openral_reasoner.parser` cuts it.
        extra_verbs: stems of verbs that only the skills at hand know ("hammer").

    A word of state between a determiner and a noun ("the open drawer") describes the object and is no
    order; after a weak verb ("push … shut", "slide open …") it decides the verb.
    """
    tokens = words(clause)
    roots = [stem(word) for word in tokens]
    attributive = {
        index
        for index in range(1, len(tokens) - 1)
        if tokens[index - 1] in DETERMINERS
        and roots[index] in STRONG_VERBS
        and tokens[index + 1] not in _STATE_NOUNS
    }
    if len(tokens) > 2 and tokens[-2] in DETERMINERS and roots[-1] in STRONG_VERBS:
        attributive.add(len(tokens) - 1)  # a noun that could be a verb elsewhere: "shut off the tap"
    weak_at = next((i for i, root in enumerate(roots) if root in WEAK_VERBS and i not in attributive), None)
    strong_at = [i for i, root in enumerate(roots) if root in STRONG_VERBS and i not in attributive]
    extra_at = next((i for i, root in enumerate(roots) if root in extra_verbs), None)
    particle_at = _particle(tokens, weak_at)

    noun = (
        {len(tokens) - 1} & attributive if tokens and tokens[-2:-1] and tokens[-2] in DETERMINERS else set()
    )
    used = {*strong_at, *(attributive - noun)}
    actions: Mapping[str, float] = {}
    verb: list[str] = []
    if weak_at is not None:
        used.add(weak_at)
        verb.append(roots[weak_at])
        actions = WEAK_ALONE.get(roots[weak_at], {})
        if particle_at is not None:
            particle = tokens[particle_at].removesuffix("s")
            used.add(particle_at)
            verb.append(particle)
            actions = DECIDING_PARTICLES.get((roots[weak_at], particle), {})
    if strong_at:
        said = dict.fromkeys(STRONG_VERBS[roots[i]] for i in strong_at)
        actions = dict.fromkeys(said, 1.0)
        verb = [roots[strong_at[0]]] if weak_at is None else [*verb[:1], roots[strong_at[0]]]
    elif weak_at is None and extra_at is not None:
        used.add(extra_at)
        verb = [roots[extra_at]]
        actions = {roots[extra_at]: 1.0}
    rest = [word for i, word in enumerate(tokens) if i not in used and _carries(word)]
    unchanged = any(root in STATE_VERBS for root in roots)
    return Meaning(
        actions=actions,
        verb=tuple(verb),
        things=frozenset(object_stem(word) for word in rest),
        conflict=unchanged or len({STRONG_VERBS[roots[i]] for i in strong_at}) > 1,
        raw=frozenset(
            object_stem(word) for i, word in enumerate(tokens) if _carries(word) or i == particle_at
        ),
    )


def _particle(tokens: list[str], verb_at: int | None) -> int | None:
    """Index of the particle that belongs to a weak verb: right behind it, or at the end of the clause."""
    if verb_at is None:
        return None
    after = range(verb_at + 1, len(tokens))
    for index in after:
        last = all(not _carries(word) for word in tokens[index + 1 :])
        if tokens[index] in _PARTICLES and (index == verb_at + 1 or last):
            return index
    return None


def _carries(word: str) -> bool:
    return word in PARTIAL or not (word in FILLERS or word in _STATE_NOUNS or is_manner(word))
