"""The offline planner: rules, tables and sentence embeddings, without network or language model."""

from __future__ import annotations

import re
from textwrap import shorten

from openral_reasoner.offline.rules.assembly import Assembly
from openral_reasoner.offline.rules.contractions import spelled_out
from openral_reasoner.offline.rules.entries import offers
from openral_reasoner.offline.rules.matcher import Matcher
from openral_reasoner.offline.rules.naming import named
from openral_reasoner.offline.rules.parser import MAX_CHARACTERS, parse
from openral_reasoner.offline.rules.semantic import SemanticMatcher
from openral_reasoner.offline.rules.spelling import Speller, is_foreign
from openral_reasoner.offline.rules.structure import NotUnderstood
from openral_reasoner.palette import Palette
from openral_reasoner.planner import CannotDo, Plan, PlannedTask, Proposal
from openral_reasoner.vocabulary import words

_STEPS = re.compile(r"\s*(?:[;\n]|,?\s*\b(?:and\s+)?then\b)\s*", re.IGNORECASE)
"""Where one step surely ends and the next begins."""

MODEL = "with a language model (`reasoner.model` in the scene) I understand others"


class OfflinePlanner:
    """Parses a sentence, matches each task, asks where it is unsure, refuses what is unknown."""

    def __init__(self, matcher: Matcher | None = None, speller: Speller | None = None) -> None:
        self._matcher = matcher or SemanticMatcher()
        self._speller = speller or Speller()

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        """See `Planner.plan`. The same sentence and palette always give the same plan."""
        if known := _word_for_word(sentence, palette):
            return Plan(known)
        shown = shorten(sentence, 200, placeholder=" …")
        if is_foreign(sentence, palette):
            return CannotDo(
                f'I understand English only, and "{shown}" seems to be none; {MODEL}', offers(palette)
            )
        if len(sentence) <= MAX_CHARACTERS:
            sentence = named(spelled_out(self._speller.corrected(sentence, palette)), palette)
        orders = parse(sentence)
        if isinstance(orders, NotUnderstood):
            return CannotDo(f'I do not follow "{shown}": {orders.reason}', offers(palette))
        return Assembly(self._matcher, palette).plan(orders)


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
