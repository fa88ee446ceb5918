"""The offline planner: a small grammar and a trained matcher, without network or language model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from textwrap import shorten

from openral_core.errors import InstallationError
from openral_reasoner.condition import Condition, Guard, Until
from openral_reasoner.offline import grammar
from openral_reasoner.offline.clause_matcher import LearnedMatcher
from openral_reasoner.offline.conditions import NoPlan, Passage, State, passages
from openral_reasoner.offline.entries import Entry, entries_of
from openral_reasoner.offline.guards import negates, spelled_out
from openral_reasoner.offline.segment_chooser import Chooser, Match, Step
from openral_reasoner.offline.spelling import as_typed, corrected, is_foreign
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Ask, CannotDo, Plan, PlannedTask, Proposal
from openral_reasoner.word_stems import MAX_CHARACTERS, words

MAX_TASKS = 20
"""Tasks of one plan, repetitions counted."""
MAX_OPTIONS = 3
"""Meanings that the operator is asked to choose between."""
_STEPS = re.compile(r"\s*(?:[;\n]|,?\s*\b(?:and\s+)?then\b)\s*", re.IGNORECASE)
"""Where one step surely ends and the next begins."""
_PAIRS = (
    "open close|open shut|opened closed|open closed|on off|in out|up down|start stop|lock unlock|raise lower|"
    "left right|insert extract|attach detach|fill empty|fold unfold|cover uncover|put take|"
    "lift lower|push pull|plug unplug|fasten loosen|hang unhook"
)
_short = partial(shorten, width=200, placeholder=" …")
_shared_matcher = lru_cache(maxsize=1)(LearnedMatcher)
_OPPOSITES = {one: other for pair in _PAIRS.split("|") for one, other in (pair.split()[::-1], pair.split())}
"""Words that turn a task into the one that undoes it."""


class OfflinePlanner:
    """Reads a sentence, matches each order, asks where it is unsure, refuses what is unknown."""

    def __init__(self, matcher: LearnedMatcher | None = None) -> None:
        """Use a matcher; None: the trained one, loaded at the first sentence and shared."""
        self._given = matcher

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        """See `Planner.plan`. The same sentence and palette always give the same plan."""
        known = _word_for_word(sentence, palette)
        # A motion is ordered by its very words alone; the matcher was never shown any.
        palette = replace(palette, skills=tuple(skill for skill in palette.skills if not skill.judges_itself))
        try:
            return _bounded(known) if known else self._read(sentence, palette)
        except (InstallationError, NoPlan) as refusal:
            why = str(refusal)
            if why.startswith(("it ", "there ", "I cannot tell")):
                why = f'I do not follow "{_short(sentence)}": {why}'
            return CannotDo(why, tuple(dict.fromkeys(entry.says for entry in entries_of(palette))))

    def _read(self, sentence: str, palette: Palette) -> Proposal:
        if len(sentence) > MAX_CHARACTERS:
            raise NoPlan(f"it has more than {MAX_CHARACTERS} characters; give me a few tasks at a time")
        if not any(c.isalpha() for c in sentence):
            raise NoPlan("there are no words in it")
        matcher = self._given or _shared_matcher()
        vocabulary = matcher.encoder.vocabulary
        if is_foreign(sentence, palette, vocabulary):
            others = "with a language model (`reasoner.model` in the scene) I understand others"
            raise NoPlan(f'I understand English only, and "{_short(sentence)}" seems to be none; {others}')
        plain = grammar.unwrapped(sentence).replace("’", "'")
        text, typed = corrected(plain, palette, vocabulary, matcher.words)
        try:
            answer = _Assembly(Chooser(matcher, entries_of(palette))).plan(spelled_out(text))
        except NoPlan as refusal:
            raise NoPlan(as_typed(str(refusal), typed)) from refusal
        return replace(answer, reason=as_typed(answer.reason, typed)) if isinstance(answer, Ask) else answer


class _Assembly:
    """Makes one plan out of passages."""

    def __init__(self, chooser: Chooser) -> None:
        self._chooser = chooser
        self._doubts: list[tuple[int, Step]] = []
        """(index of the task, its step)."""

    def plan(self, text: str) -> Proposal:
        """Return the plan, or a question where an order is unclear; NoPlan says why not."""
        tasks: list[PlannedTask] = []
        for passage in passages(text):
            tasks += self._passage(passage, len(tasks))
        plan = _bounded(tasks)
        return self._asked_back(tasks) if self._doubts else plan

    def _asked_back(self, tasks: list[PlannedTask]) -> Proposal:
        clauses = list(dict.fromkeys(step.clause for _, step in self._doubts))
        if len(clauses) > 1:
            named = ", ".join(f'"{clause}"' for clause in clauses)
            return Ask(f"I am not sure of {named}", (Plan(tuple(tasks)),))
        places = {index for index, _ in self._doubts}
        options = []
        for match in self._doubts[0][1].meanings[:MAX_OPTIONS]:
            chosen = list(tasks)
            for i in places:
                chosen[i] = replace(_planned(clauses[0], match), guard=tasks[i].guard, until=tasks[i].until)
            options.append(Plan(tuple(chosen)))
        return Ask(f'"{clauses[0]}" is not quite clear', tuple(options))

    def _passage(self, passage: Passage, begin: int) -> list[PlannedTask]:
        orders, condition, until = passage.orders, passage.condition, passage.until
        named = grammar.phrases(orders)
        if condition and condition.subject in ("it", "that", "this"):
            condition = replace(condition, subject=named[0] if named else condition.subject)
        elif condition and grammar.has_pronoun(orders):
            orders = re.sub(r"\bit\b", condition.subject, orders, count=1)
        if until and until.subject in ("it", "that", "this") and named:
            until = replace(until, subject=named[0])
        if until and (whole := self._towards(orders, until)):
            orders, until = whole, None
        tasks = self._tasks(orders, begin)
        if passage.times > 1:
            tasks = self._repeated(tasks, passage.times, begin)
        if until:
            tasks[-1] = replace(tasks[-1], until=Until(self._condition(until), len(tasks)))
        otherwise = self._tasks(passage.otherwise, begin + len(tasks)) if passage.otherwise else []
        if condition:
            guard = Guard(self._condition(condition), len(tasks), len(otherwise), passage.wait)
            tasks[0] = replace(tasks[0], guard=guard)
        return tasks + otherwise

    def _repeated(self, tasks: list[PlannedTask], times: int, begin: int) -> list[PlannedTask]:
        if len({task.skill_task for task in tasks}) == 1 and self._undone(tasks[0].meant):
            raise NoPlan(f'after "{tasks[0].meant}" there is nothing left to repeat')
        more = [(index, step) for index, step in self._doubts if index >= begin]
        self._doubts += [(index + len(tasks) * n, step) for n in range(1, times) for index, step in more]
        return tasks * times

    def _towards(self, orders: str, until: State) -> str:
        """Of "push the window to the right until it is open" what is to come of it, if that is what the orders do."""
        goal = self._chooser.sure(until.wish)
        if goal is None or until.negated or negates(orders):
            return ""
        self._chooser.check(orders)
        how = self._chooser.rank(orders)
        if how[0].score >= 0.5 and how[0].entry.says == self._undone(goal.entry.says):
            raise NoPlan(f'"{orders}" is how to {how[0].entry.says}, and not how to {goal.entry.says}')
        same = until.subject in grammar.phrases(orders)
        return until.wish if how[0].entry.says == goal.entry.says or (same and how[0].score < 0.5) else ""

    def _tasks(self, orders: str, begin: int) -> list[PlannedTask]:
        """One task a step; what only says the same once more is not done twice."""
        tasks: list[PlannedTask] = []
        for step in self._chooser.read(orders):
            planned = _planned(step.clause, step.meanings[0])
            if tasks and tasks[-1].meant == planned.meant and tasks[-1].text != planned.text and step.added:
                step = replace(step, sure=False)
            elif tasks and tasks[-1].meant == planned.meant and tasks[-1].text != planned.text:
                if _tells_apart(tasks[-1].text, planned.text):
                    # "open the blue drawer and the green drawer": two things for the operator, one for the skill
                    raise NoPlan(f'"{tasks[-1].text}" and "{planned.text}" are the same task to me')
                self._doubts = [doubt for doubt in self._doubts if doubt[0] != begin + len(tasks) - 1]
                tasks.pop()
            if not step.sure:
                self._doubts.append((begin + len(tasks), step))
            tasks.append(planned)
        return tasks

    def _condition(self, state: State) -> Condition:
        """The task whose success tells whether a state holds, and the one that undoes it."""
        if match := self._chooser.sure(state.wish):
            return Condition(state.text, match.entry.says, self._undone(match.entry.says), state.negated)
        if opposite := self._undone(state.wish):
            return Condition(state.text, opposite, "", not state.negated)
        raise NoPlan(f"I cannot judge whether {state.text}")

    def _undone(self, clause: str) -> str:
        """Words of the task that undoes what a clause says; empty: no skill here has one."""
        said = words(clause)
        turned = [_OPPOSITES.get(word, word) for word in said]
        match = self._chooser.sure(" ".join(turned)) if turned != said else None
        return match.entry.says if match and match.entry.says != clause else ""


def _bounded(tasks: Sequence[PlannedTask]) -> Plan:
    """Return the plan of some tasks. Raises NoPlan: there are too many."""
    if len(tasks) > MAX_TASKS:
        raise NoPlan(f"it comes to {len(tasks)} tasks, and I do at most {MAX_TASKS} in one mission")
    return Plan(tuple(tasks))


def _tells_apart(one: str, other: str) -> bool:
    """Whether two clauses name one kind of thing with different descriptions: the blue drawer, the green drawer."""
    first, second = ([words(phrase)[1:] for phrase in grammar.phrases(clause)] for clause in (one, other))
    return any(a[-1] == b[-1] and a != b for a in first for b in second if len(a) > 1 and len(b) > 1)


def _planned(clause: str, match: Match) -> PlannedTask:
    """The task for a clause.

    The policy gets the words that it was trained with; where the operator told the thing from others, the operator's.
    """
    entry = match.entry
    is_told = not entry.task or any(_is_told_apart(phrase, entry) for phrase in grammar.phrases(clause))
    task, text = entry.task.id if entry.task else "", clause if is_told else entry.says
    return PlannedTask(clause, entry.skill, task, text, match.score)


def _is_told_apart(phrase: str, entry: Entry) -> bool:
    """Whether a noun phrase adds a description to a thing of the task's examples."""
    known = {word for example in entry.examples for word in words(example)}
    said = words(phrase)[1:]
    return len(said) > 1 and said[-1] in known and any(word not in known for word in said[:-1])


def _word_for_word(sentence: str, palette: Palette) -> tuple[PlannedTask, ...]:
    """Tasks of a sentence whose every step is, word for word, a phrase of a skill; none if one step is not.

    A benchmark's instructions are such phrases, and some hold two verbs: "pick up the bowl and place it on the plate".
    """
    phrases, tasks = palette.by_phrase(), []
    for step in _STEPS.split(sentence):
        said = tuple(words(step))
        if said not in phrases:
            return ()
        skill, task = phrases[said]
        tasks.append(PlannedTask(" ".join(said), skill, task.id, " ".join(said), 1.0))
    return tuple(tasks)
