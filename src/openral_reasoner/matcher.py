"""Which task of which skill do these words mean? The `Matcher` protocol, and the lexical one: verb first.

A skill's tasks are read from its manifest: the id and the example phrases of a task give its actions, its
object and every word that belongs to it. A clause is compared with all of them; each word of the clause
that a task does not know costs confidence, so that "open the fridge drawer" is no order for a skill that
opens a drawer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from openral_reasoner.idioms import plain, spelled_out
from openral_reasoner.meaning import Meaning, analyse, object_stem
from openral_reasoner.palette import Palette, Skill, SkillTask
from openral_reasoner.verbs import STRONG_VERBS, WEAK_VERBS
from openral_reasoner.vocabulary import MODIFIERS, stem, stems, words

ACCEPT = 0.6
"""Score from which a match is executed."""
WORTH_ASKING = 0.4
"""Score from which the operator is asked whether it is meant; what scores less is refused."""
PART = 0.5
"""Factor for a clause that says only some of a task's actions: "lift the puck" of "pick up the puck and place it"."""
OPPOSITE: dict[str, str] = {
    one: other
    for pair in (
        ("open", "close"), ("opened", "closed"), ("open", "shut"), ("on", "off"), ("in", "out"), ("into", "out of"),
        ("up", "down"), ("left", "right"), ("top", "bottom"), ("insert", "remove"), ("inserted", "removed"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip
"""Words that turn a task or a state into what undoes it; "open" and "shut" both have one."""
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


@dataclass(frozen=True)
class _Entry:
    """One executable task as the matcher sees it."""

    skill: Skill
    task: SkillTask | None
    actions: frozenset[str]
    objects: frozenset[str]
    """Stems; one of them must be named. Empty: any object."""
    vocabulary: frozenset[str]
    """Stems of all words of the id, the examples and the scenes."""
    verbs: frozenset[tuple[str, ...]]
    """Verb phrases of the examples."""
    phrases: frozenset[frozenset[str]]
    """The examples as sets of stems."""
    says: str
    deeds: tuple[frozenset[str], ...] = ()
    """Actions of each example; one of these sets must be said in full."""


class LexicalMatcher:
    """Compares words by tables and stems: deterministic, without a network, under a millisecond."""

    def rank(self, clause: str, palette: Palette) -> list[Match]:
        """See `Matcher.rank`."""
        entries = [entry for skill in palette.skills for entry in _entries(skill)]
        extra = frozenset(action for entry in entries for action in entry.actions if " " not in action)
        told_apart = frozenset().union(*(entry.vocabulary for entry in entries))
        meaning = analyse(clause, extra)
        matches = [
            Match(entry.skill, entry.task, score, meaning.things <= entry.vocabulary, entry.says)
            for entry in entries
            if (score := _score(meaning, entry, told_apart)) > 0
        ]
        return sorted(matches, key=lambda match: -match.score)


def offers(palette: Palette) -> tuple[str, ...]:
    """Everything the palette can do, in words, without repetition."""
    return tuple(dict.fromkeys(entry.says for skill in palette.skills for entry in _entries(skill)))


def _score(meaning: Meaning, entry: _Entry, told_apart: frozenset[str]) -> float:
    """Score of one entry; a description that tells the entries apart is no mere description."""
    if meaning.unchanged or (meaning.foreign and meaning.foreign not in entry.vocabulary | entry.actions):
        return 0.0
    if len(meaning.said) > 1 and not meaning.said <= entry.actions:
        return 0.0
    if meaning.raw and meaning.raw in entry.phrases:
        return 1.0
    action = max((weight for name, weight in meaning.actions.items() if name in entry.actions), default=0.0)
    if meaning.verb in entry.verbs:
        action = 1.0
    if entry.deeds and not any(deeds <= frozenset(meaning.actions) for deeds in entry.deeds):
        action *= PART
    if entry.objects and meaning.things.isdisjoint(entry.objects):
        return 0.0
    if not entry.objects:
        return min(action, GENERALIST) if meaning.things else 0.0
    unknown = meaning.things - entry.vocabulary
    harmless = _MODIFIER_STEMS - told_apart
    cost = sum(MODIFIER if word in harmless else UNKNOWN_WORD for word in unknown)
    return max(0.0, action - cost)


def _entries(skill: Skill) -> list[_Entry]:
    """All tasks of a skill; for one without tasks its actions with each of its objects."""
    if skill.tasks:
        return [_task_entry(skill, task) for task in skill.tasks]
    scene_words = frozenset(root for scene in skill.scenes for root in stems(scene))
    known = frozenset(STRONG_VERBS.values()) | {"push", "pull", "slide"}
    entries = []
    for action in skill.actions:
        actions = known if action == "generalist" else frozenset({_concept(action)})
        for name in skill.objects or ("",):
            thing = frozenset(object_stem(word) for word in words(name))
            shown = (
                "anything"
                if action == "generalist" and not name
                else f"{action} {'the ' + name if name else 'something'}"
            )
            entries.append(
                _Entry(skill, None, actions, thing, thing | scene_words, frozenset(), frozenset(), shown)
            )
    return entries


def _task_entry(skill: Skill, task: SkillTask) -> _Entry:
    phrases = task.phrases or (task.phrase,)
    own = frozenset(root for phrase in phrases if (root := _unknown_verb(phrase)))
    meanings = [analyse(plain(spelled_out(phrase)), own) for phrase in phrases]
    deeds = _deeds(meanings)
    declared = {object_stem(word) for name in skill.objects for word in words(name)}
    said = frozenset().union(*(meaning.things for meaning in meanings))
    common = frozenset.intersection(*(meaning.things for meaning in meanings))
    return _Entry(
        skill=skill,
        task=task,
        actions=frozenset().union(*deeds),
        objects=(said & declared) or common or said,
        vocabulary=said | frozenset(root for scene in skill.scenes for root in stems(scene)),
        verbs=frozenset(meaning.verb for meaning in meanings if meaning.verb),
        phrases=frozenset(meaning.raw for meaning in meanings),
        says=task.phrase,
        deeds=deeds,
    )


def _deeds(meanings: Sequence[Meaning]) -> tuple[frozenset[str], ...]:
    """Actions of each example, and the one verb that stands for picking and placing."""
    deeds = [frozenset(name for name, weight in m.actions.items() if weight == 1.0) for m in meanings]
    whole = any({"pick", "place"} <= each for each in deeds)
    return (*deeds, frozenset({"carry"})) if whole else tuple(deeds)


def _unknown_verb(phrase: str) -> str:
    """Stem of the first word of an example when no table knows a verb in it: "hammer the nail in"."""
    roots = stems(phrase)
    known = any(root in STRONG_VERBS or root in WEAK_VERBS for root in roots)
    return "" if known or not roots else roots[0]


def _concept(action: str) -> str:
    root = stem(action)
    return STRONG_VERBS.get(root, action if root in WEAK_VERBS else root)
