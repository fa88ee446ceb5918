"""What a palette can do, as the matchers see it: each task with its actions, its object and its words.

All of it is read from the manifests: the id and the example phrases of a task, the actions and objects of its skill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from openral_reasoner.offline.rules.contractions import spelled_out
from openral_reasoner.offline.rules.idioms import plain
from openral_reasoner.offline.rules.meaning import Meaning, analyse
from openral_reasoner.offline.rules.relation import Relation
from openral_reasoner.offline.rules.verbs import PARTICLES, STRONG_VERBS, WEAK_VERBS
from openral_reasoner.palette import Palette, Skill, SkillTask
from openral_reasoner.vocabulary import MODIFIERS, object_stem, stem, stems, words


@dataclass(frozen=True)
class Entry:
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
    particles: frozenset[str] = frozenset()
    """Words for a way ("out", "in") in the examples."""
    places: frozenset[str] = frozenset()
    """Where the task puts its object, if most examples say it."""
    relations: frozenset[Relation] = frozenset()
    """Where the examples put things, with descriptions."""
    bare: frozenset[frozenset[str]] = frozenset()
    """The examples without their verbs, as sets of stems: "peg into the hole"."""
    deeds: tuple[frozenset[str], ...] = ()
    """Actions of each example; one of these sets must be said in full."""


_DESCRIPTIONS = frozenset(stem(word) for word in MODIFIERS)


def entries_of(palette: Palette) -> list[Entry]:
    """All tasks of all skills, in the palette's order."""
    return [entry for skill in palette.skills for entry in _entries(skill)]


def offers(palette: Palette) -> tuple[str, ...]:
    """Everything the palette can do, in words, without repetition."""
    return tuple(dict.fromkeys(entry.says for entry in entries_of(palette)))


@lru_cache(maxsize=1024)
def _entries(skill: Skill) -> tuple[Entry, ...]:
    """All tasks of a skill; for one without tasks its actions with each of its objects."""
    if skill.tasks:
        return tuple(_task_entry(skill, task) for task in skill.tasks)
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
                Entry(skill, None, actions, thing, thing | scene_words, frozenset(), frozenset(), shown)
            )
    return tuple(entries)


def _task_entry(skill: Skill, task: SkillTask) -> Entry:
    phrases = task.phrases or (task.phrase,)
    own = frozenset(root for phrase in phrases if (root := _unknown_verb(phrase)))
    meanings = [analyse(plain(spelled_out(phrase)), own) for phrase in phrases]
    deeds = _deeds(meanings)
    places = frozenset().union(*(meaning.places for meaning in meanings))
    declared = {object_stem(word) for name in skill.objects for word in words(name)}
    said = frozenset().union(*(meaning.things for meaning in meanings))
    common = frozenset.intersection(*(meaning.things for meaning in meanings))
    return Entry(
        skill=skill,
        task=task,
        actions=frozenset().union(*deeds),
        objects=_objects(meanings, declared) or common or said,
        vocabulary=said | frozenset(root for scene in skill.scenes for root in stems(scene)),
        verbs=frozenset(meaning.verb for meaning in meanings if meaning.verb),
        phrases=frozenset(meaning.raw for meaning in meanings),
        says=task.phrase,
        particles=frozenset(word for phrase in phrases for word in words(phrase) if word in PARTICLES),
        places=places
        if 2 * sum(bool(meaning.places) for meaning in meanings) >= len(meanings)
        else frozenset(),
        relations=frozenset().union(*(meaning.relations for meaning in meanings)),
        bare=frozenset(meaning.raw - _verb_stems(meaning) for meaning in meanings),
        deeds=deeds,
    )


def _objects(meanings: Sequence[Meaning], declared: frozenset[str] | set[str]) -> frozenset[str]:
    """What the examples name of the skill's objects, and in those that name none, what they name else."""
    named = [meaning.things & declared for meaning in meanings]
    if not any(named):
        return frozenset()
    others = [
        frozenset() if own else m.things - _DESCRIPTIONS for own, m in zip(named, meanings, strict=True)
    ]
    return frozenset().union(*named, *others)


def _verb_stems(meaning: Meaning) -> frozenset[str]:
    return frozenset(root for root in meaning.raw if root in STRONG_VERBS or root in WEAK_VERBS)


def _deeds(meanings: Sequence[Meaning]) -> tuple[frozenset[str], ...]:
    """Actions of each example, and the one verb that stands for picking and placing."""
    deeds = [m.said or frozenset(sorted(m.actions, key=m.actions.__getitem__)[-1:]) for m in meanings]
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
