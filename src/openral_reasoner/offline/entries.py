"""The executable tasks of a palette in the form that the matcher uses: each with its examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from openral_reasoner.palette import Palette, Skill, SkillTask


@dataclass(frozen=True)
class Entry:
    """One executable task."""

    skill: Skill
    task: SkillTask | None
    """None: the skill names no tasks, only actions and objects."""
    says: str
    """The task in the skill's own words."""
    examples: tuple[str, ...]
    """In lower case; empty: the skill takes any order."""


def entries_of(palette: Palette) -> list[Entry]:
    """Return all tasks of all skills, in the palette's order."""
    return [entry for skill in palette.skills for entry in _entries(skill)]


@lru_cache(maxsize=1024)
def _entries(skill: Skill) -> tuple[Entry, ...]:
    if skill.tasks:
        return tuple(
            Entry(skill, task, task.phrase, tuple(said.lower() for said in task.phrases or (task.phrase,)))
            for task in skill.tasks
        )
    found = []
    for action in skill.actions:
        any_words = action == "generalist" and not skill.objects  # it takes any instruction
        for name in skill.objects or ("thing",):
            says = "anything" if any_words else f"{action.replace('_', ' ')} the {name}"
            found.append(Entry(skill, None, says, () if any_words else (says,)))
    return tuple(found)
