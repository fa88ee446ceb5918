"""Which task of which skill do these words mean? The `Matcher` protocol, and the lexical one: verb first.

A clause is compared with all tasks; each word of it that a task does not know costs confidence, so that "open the
fridge drawer" is no order for a skill that opens a drawer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from openral_reasoner.offline.rules.entries import Entry, entries_of
from openral_reasoner.offline.rules.meaning import Meaning, analyse
from openral_reasoner.offline.rules.relation import contradict
from openral_reasoner.palette import Palette, Skill, SkillTask
from openral_reasoner.vocabulary import COLOUR_STEMS, MODIFIERS, stem

ACCEPT = 0.6
"""Score from which a match is executed."""
WORTH_ASKING = 0.4
"""Score from which the operator is asked whether it is meant; what scores less is refused."""
PART = 0.5
"""Factor for a clause that says only some of a task's actions: "lift the puck" of "pick up the puck and place it"."""
WAYS: dict[str, frozenset[str]] = {
    "out": frozenset({"out", "outward"}),
    "outward": frozenset({"out", "outward"}),
    "in": frozenset({"in", "inward", "into", "back", "down"}),
    "inward": frozenset({"in", "inward", "into", "back", "down"}),
    "back": frozenset({"in", "inward", "into", "back"}),
}
"""Particle -> those of a skill's own phrases that show that the task goes this way."""
DIRECTED = frozenset({"carry", "pick", "push", "place", "slide", "pull"})
"""Actions that leave open where to, if the clause does not say it."""
OPPOSITE: dict[str, str] = {
    one: other
    for pair in (
        ("open", "close"),
        ("opened", "closed"),
        ("open", "shut"),
        ("on", "off"),
        ("in", "out"),
        ("into", "out of"),
        ("up", "down"),
        ("left", "right"),
        ("top", "bottom"),
        ("insert", "remove"),
        ("inserted", "removed"),
    )
    for one, other in (pair, pair[::-1])
}
"""Words that turn a task or a state into what undoes it; "open" and "shut" both have one."""
BARE = 0.8
"""Score of a task's own words without its verb: "peg into the hole"; one word, "the button", is only asked about."""
TOWARDS: dict[str, str] = {
    "pull": "pull",
    "tug": "pull",
    "yank": "pull",
    "haul": "pull",
    "push": "push",
    "shov": "push",
}
"""Stems of verbs that say which way something goes without a particle: "pull the drawer" opens it."""
SAME_VERB = 0.65
"""Score of such a verb where the task's examples have it, too, with a particle."""
MARGIN = 0.1
"""Two different tasks whose scores are closer than this are ambiguous."""
UNKNOWN_WORD = 0.5
"""Cost of a word that neither the task nor the table of descriptions knows."""
MODIFIER = 0.1
"""Cost of a description (colour, size, place) that the task does not know."""
GENERALIST = 0.65
"""Score of a skill that takes any object (`generalist`) for a known verb: below every specific match."""
_MODIFIER_STEMS = frozenset(stem(word) for word in MODIFIERS)


@dataclass(frozen=True)
class Match:
    """One candidate for a clause."""

    skill: Skill
    task: SkillTask | None
    """The skill's task; None for a skill that lists actions and objects only."""
    score: float
    """0..1."""
    covered: bool
    """Every word of the clause belongs to the task: the skill's own phrase says the same."""
    says: str
    """The candidate in words, for the operator."""


class Matcher(Protocol):
    """Ranks what the palette offers for one clause."""

    def rank(self, clause: str, palette: Palette) -> list[Match]:
        """Return candidates with a score above 0, best first; ties in the palette's order."""
        ...


class LexicalMatcher:
    """Compares words by tables and stems: deterministic, without a network, under a millisecond."""

    def rank(self, clause: str, palette: Palette) -> list[Match]:
        """Return candidates with a score above 0, best first; ties in the palette's order."""
        entries = entries_of(palette)
        extra = frozenset(action for entry in entries for action in entry.actions if " " not in action)
        meaning = analyse(clause, extra)
        matches = [
            Match(entry.skill, entry.task, score, meaning.things <= entry.vocabulary, entry.says)
            for entry in entries
            if (score := _score(meaning, entry, _told_apart(entry, entries))) > 0
        ]
        return sorted(matches, key=lambda match: -match.score)


def _told_apart(entry: Entry, entries: list[Entry]) -> frozenset[str]:
    """Words by which tasks with the same object are told apart: of cubes one is red, of buttons there is but one."""
    words = frozenset().union(*(each.vocabulary for each in entries if each.objects & entry.objects))
    return words | COLOUR_STEMS if words & COLOUR_STEMS else words


def _score(meaning: Meaning, entry: Entry, told_apart: frozenset[str]) -> float:
    """Score of one entry; a description that tells the entries apart is no mere description."""
    if meaning.unchanged or (meaning.foreign and meaning.foreign not in entry.vocabulary | entry.actions):
        return 0.0
    if len(meaning.said) > 1 and not meaning.said <= entry.actions:
        return 0.0
    if contradict(meaning.relations, entry.relations, entry.vocabulary & _MODIFIER_STEMS, entry.places):
        return 0.0
    there = not (entry.places and meaning.places and meaning.places.isdisjoint(entry.places))
    if meaning.raw and meaning.raw in entry.phrases and there:
        return 1.0
    without_verb = (
        meaning.raw - {"put"} if meaning.verb in ((), ("put",)) and not meaning.foreign else frozenset()
    )
    if without_verb in entry.bare and there:
        return BARE if len(without_verb) > 1 else WORTH_ASKING
    things = _without_one(meaning.things, entry)
    stands_for = things != meaning.things
    if entry.objects and things.isdisjoint(entry.objects) and not stands_for:
        return 0.0
    needed = (
        frozenset.intersection(*entry.phrases) & entry.objects - entry.places
        if entry.phrases
        else frozenset()
    )
    if needed and things.isdisjoint(needed) and not stands_for:
        return 0.0  # "take me to the goal" names the place and not the thing
    places = entry.places if stands_for and "one" in meaning.places else meaning.places
    if entry.places and places and places.isdisjoint(entry.places):
        return 0.0
    action = _action(meaning, entry)
    aimed = places if entry.places & entry.objects else things
    if entry.places and entry.places.isdisjoint(aimed) and DIRECTED & set(meaning.actions):
        action = min(action, PART)
    if not entry.objects:
        return min(action, GENERALIST) if things else 0.0
    harmless = _MODIFIER_STEMS - told_apart
    unknown = things - entry.vocabulary - entry.particles
    cost = sum(MODIFIER if word in harmless else UNKNOWN_WORD for word in unknown)
    return max(0.0, action - cost)


def _action(meaning: Meaning, entry: Entry) -> float:
    """How well the verb fits, 0..1."""
    action = max((weight for name, weight in meaning.actions.items() if name in entry.actions), default=0.0)
    if meaning.verb in entry.verbs:
        action = 1.0
    elif meaning.particle in WAYS and entry.particles.isdisjoint(WAYS[meaning.particle]):
        action *= PART  # "pull the drawer out" opens it, "pull the window out" may mean anything
    if entry.deeds and not any(deeds <= frozenset(meaning.actions) for deeds in entry.deeds):
        action *= PART
    outward = meaning.particle.startswith("outward") and TOWARDS.get(meaning.verb[0]) == "pull"
    if meaning.verb and (outward or not meaning.particle) and not meaning.said:
        ways = {TOWARDS.get(verb[0]) for verb in entry.verbs} - {None}
        action = max(action, SAME_VERB if TOWARDS.get(meaning.verb[0]) in ways else 0.0)
    return action


def _without_one(things: frozenset[str], entry: Entry) -> frozenset[str]:
    """The things without a "one" that stands for the task's object: "the red one", if the task knows something red."""
    return things if things.isdisjoint(entry.vocabulary & _MODIFIER_STEMS) else things - {"one"}
