"""From a sentence to a plan: the `Planner` protocol, and the offline planner, without network or model.

A planner proposes; the mission's gates decide what happens with the plan. A planner that asks a language
model takes the same arguments and returns the same two types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import shorten
from typing import Protocol

from openral_reasoner.condition import Guard, Until
from openral_reasoner.matcher import ACCEPT, MARGIN, LexicalMatcher, Match, Matcher, offers
from openral_reasoner.palette import Palette, Skill
from openral_reasoner.parser import NotUnderstood, parse
from openral_reasoner.vocabulary import words

_STEPS = re.compile(r"\s*(?:[;\n]|,?\s*\b(?:and\s+)?then\b)\s*", re.IGNORECASE)
"""Where one step surely ends and the next begins."""


@dataclass(frozen=True)
class PlannedTask:
    """One task with the skill that shall do it."""

    text: str
    """The operator's words for this task."""
    skill: Skill
    skill_task: str
    """The skill's task id, or empty."""
    instruction: str
    """Words for the policy."""
    score: float
    """0..1, how well the words matched."""
    guard: Guard | None = None
    """What must hold for this task, and those behind it that the guard spans, to run."""
    until: Until | None = None
    """What ends the repetition of this task, and of those before it that the loop spans."""


@dataclass(frozen=True)
class Plan:
    """Tasks in their order of execution, at least one."""

    tasks: tuple[PlannedTask, ...]


@dataclass(frozen=True)
class CannotDo:
    """The sentence, or a part of it, cannot be done; nothing of it may be executed."""

    reason: str
    """Why, as half a sentence."""
    offers: tuple[str, ...]
    """What can be done instead, in words."""

    @property
    def sentence(self) -> str:
        """The answer to the operator."""
        what = f"What I can do: {'; '.join(self.offers)}." if self.offers else "No skill is ready."
        return f"I cannot do this: {self.reason}. {what}"


class Planner(Protocol):
    """Turns words into a plan over the skills at hand; may take seconds, in a thread of its own."""

    def plan(self, sentence: str, palette: Palette) -> Plan | CannotDo:
        """Return a plan for the whole sentence, or why there is none; a planner that breaks down says so too."""
        ...


class OfflinePlanner:
    """Rules and tables: parses the sentence, matches each task, refuses what is unknown or ambiguous."""

    def __init__(self, matcher: Matcher | None = None) -> None:
        self._matcher = matcher or LexicalMatcher()

    def plan(self, sentence: str, palette: Palette) -> Plan | CannotDo:
        """See `Planner.plan`. The same sentence and palette always give the same plan."""
        if known := _word_for_word(sentence, palette):
            return Plan(known)
        phrases = parse(sentence)
        if isinstance(phrases, NotUnderstood):
            shown = shorten(sentence, 200, placeholder=" …")
            return CannotDo(f'I do not follow "{shown}": {phrases.reason}', offers(palette))
        tasks: list[PlannedTask] = []
        for phrase in phrases:
            choice = self._choose(phrase.text, palette)
            if isinstance(choice, CannotDo):
                return choice
            tasks.append(choice)
        return Plan(tuple(tasks))

    def _choose(self, clause: str, palette: Palette) -> PlannedTask | CannotDo:
        matches = self._matcher.rank(clause, palette)
        if not matches or matches[0].score < ACCEPT:
            return CannotDo(f'no skill here does "{clause}"', offers(palette))
        best = matches[0]
        rivals = [
            match for match in matches if best.score - match.score < MARGIN and _other_task(match, best)
        ]
        if rivals:
            meanings = tuple(dict.fromkeys((best.says, *(match.says for match in rivals))))
            return CannotDo(f'"{clause}" may mean {" or ".join(meanings)}', meanings)
        # A clause that the skill's task covers word by word is passed on in the words the skill was trained
        # with; where the operator said more, the policy gets what the operator said.
        instruction = best.task.phrase if best.task and best.covered else clause
        task_id = best.task.id if best.task else ""
        return PlannedTask(clause, best.skill, task_id, instruction, best.score)


def _word_for_word(sentence: str, palette: Palette) -> tuple[PlannedTask, ...]:
    """Tasks of a sentence whose every step is, word for word, a phrase of a skill; none if one step is not.

    A benchmark's instructions are such phrases, and some hold two verbs: "pick up the bowl and place it on the plate".
    """
    phrases = {
        tuple(words(phrase)): (skill, task)
        for skill in reversed(palette.skills)
        for task in skill.tasks
        for phrase in (task.phrase, *task.phrases)
    }
    tasks = []
    for step in _STEPS.split(sentence):
        said = tuple(words(step))
        if said not in phrases:
            return ()
        skill, task = phrases[said]
        tasks.append(PlannedTask(" ".join(said), skill, task.id, " ".join(said), 1.0))
    return tuple(tasks)


def _other_task(match: Match, best: Match) -> bool:
    """Whether two candidates differ in what they do; the same task of another skill is no ambiguity."""
    return match.says != best.says
