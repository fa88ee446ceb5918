"""From clauses to a plan: every clause gets a task of a skill; conditions and loops are hung on the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from openral_reasoner.condition import Condition, Guard, Until
from openral_reasoner.offline.rules.entries import entries_of, offers
from openral_reasoner.offline.rules.matcher import ACCEPT, MARGIN, OPPOSITE, WORTH_ASKING, Match, Matcher
from openral_reasoner.offline.rules.meaning import analyse
from openral_reasoner.offline.rules.parser import Orders
from openral_reasoner.offline.rules.structure import State
from openral_reasoner.offline.rules.verbs import PREPARING
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Ask, CannotDo, Plan, PlannedTask, Proposal
from openral_reasoner.vocabulary import DETERMINERS, words

MAX_TASKS = 20
"""Tasks of one plan, repetitions counted."""
DOUBTFUL = (WORTH_ASKING + ACCEPT) / 2
"""Score of what is only asked."""
MAX_JOINED = 3
"""Clauses that may together say one task: "grasp it, lift it and put it at the goal"."""
MAX_OPTIONS = 3
"""Meanings that the operator is asked to choose between."""


class _Refused(Exception):
    """Carries the `CannotDo` out of the middle of a plan."""

    def __init__(self, answer: CannotDo) -> None:
        super().__init__(answer.reason)
        self.answer = answer


class Assembly:
    """Makes one plan. Make one for each sentence."""

    def __init__(self, matcher: Matcher, palette: Palette) -> None:
        self._matcher, self._palette = matcher, palette
        self._doubts: list[tuple[int, str, tuple[Match, ...]]] = []
        """(index of the task, clause, what it may mean)."""

    def plan(self, orders: Sequence[Orders]) -> Proposal:
        """Return the plan, a question where a clause is unclear, or why there is none."""
        tasks: list[PlannedTask] = []
        try:
            for each in orders:
                tasks += self._passage(each, len(tasks))
        except _Refused as refused:
            return refused.answer
        if len(tasks) > MAX_TASKS:
            return self._cannot(
                f"it comes to {len(tasks)} tasks, and I do at most {MAX_TASKS} in one mission"
            )
        return self._asked_back(tasks) if self._doubts else Plan(tuple(tasks))

    def _asked_back(self, tasks: list[PlannedTask]) -> Proposal:
        if len({clause for _, clause, _ in self._doubts}) > 1:
            clauses = ", ".join(dict.fromkeys(f'"{clause}"' for _, clause, _ in self._doubts))
            return Ask(f"I am not sure of {clauses}", (Plan(tuple(tasks)),))
        _, clause, meanings = self._doubts[0]
        places = {index for index, _, _ in self._doubts}
        options = []
        for match in meanings:
            chosen = [_planned(clause, match, each) if i in places else each for i, each in enumerate(tasks)]
            options.append(Plan(tuple(chosen)))
        return Ask(f'"{clause}" is not quite clear', tuple(options))

    def _passage(self, orders: Orders, begin: int) -> list[PlannedTask]:
        clauses = orders.tasks
        if orders.until and len(clauses) == 1 and _same_object(clauses[0], orders.until.clause):
            clauses = (self._towards(clauses[0], orders.until.clause),)
        tasks = self._tasks(clauses, begin)
        if orders.times > 1:
            self._check_repeatable(tasks)
            self._doubts += [
                (index + len(tasks) * n, clause, meanings)
                for index, clause, meanings in self._doubts
                if index >= begin
                for n in range(1, orders.times)
            ]
            tasks *= orders.times
        if orders.until:
            until = self._condition(orders.until)
            if until.negated or until.task != tasks[-1].meant:  # else the gate's own success ends it
                tasks[-1] = replace(tasks[-1], until=Until(until, len(tasks)))
        otherwise = self._tasks(orders.otherwise, begin + len(tasks))
        if orders.condition:
            condition = self._condition(orders.condition)
            guard = Guard(condition, len(tasks), len(otherwise), orders.wait)
            tasks[0] = replace(tasks[0], guard=guard)
        return tasks + otherwise

    def _towards(self, clause: str, until: str) -> str:
        """Of "push the window to the right until it is open" what counts: how it is done, or what is to come of it."""
        how, what = (self._matcher.rank(each, self._palette) for each in (clause, until))
        if not _sure(what):
            return clause
        rivals = any(how[0].score - match.score < MARGIN for match in how if match.says != how[0].says)
        if not _sure(how) or rivals:
            return until
        if how[0].says == self._undone(what[0].says):
            raise _Refused(self._cannot(f'"{clause}" is how to {how[0].says}, and not how to {what[0].says}'))
        return clause

    def _tasks(self, clauses: Sequence[str], begin: int) -> list[PlannedTask]:
        """One task a clause; neighbours that only together say a task become one."""
        left, tasks = list(clauses), list[PlannedTask]()
        while left:
            clause, ranked, used = self._first(left)
            left = left[used:]
            best = ranked[0]
            rivals = [m for m in ranked if best.score - m.score < MARGIN and m.says != best.says]
            if best.score < ACCEPT or rivals:
                sayings = {m.says: m for m in (*rivals, best)}
                meanings = [m for m in ranked if m.score >= WORTH_ASKING and sayings.get(m.says) is m]
                self._doubts.append((begin + len(tasks), clause, tuple(meanings[:MAX_OPTIONS])))
            planned = _planned(clause, best)
            if tasks and (_prepares(tasks[-1], planned) or self._fetches(tasks[-1], planned)):
                tasks.pop()  # "grasp the cube and raise it"
            if (
                tasks
                and tasks[-1].meant == planned.meant
                and _described(tasks[-1].text) != _described(clause)
            ):
                # "open the blue drawer and the green drawer": two things for the operator, one for the skill
                raise _Refused(self._cannot(f'"{tasks[-1].text}" and "{clause}" are the same task to me'))
            if tasks and tasks[-1].meant == planned.meant and tasks[-1].text != clause:
                tasks.pop()  # "put the peg into the hole, insert it": one thing, said twice
            tasks.append(planned)
        return tasks

    def _first(self, clauses: Sequence[str]) -> tuple[str, list[Match], int]:
        """The first task: its clause, what it may mean, and how many clauses were used."""
        alone = self._matcher.rank(clauses[0], self._palette)
        if _sure(alone):
            return clauses[0], alone, 1
        best: tuple[str, list[Match], int] | None = None
        for used in range(2, min(len(clauses), MAX_JOINED) + 1):
            last = clauses[used - 1]
            if not _same_object(clauses[used - 2], last) or (
                best and _sure(self._matcher.rank(last, self._palette))
            ):
                break
            joined = " and ".join(clauses[:used])
            together = self._matcher.rank(joined, self._palette)
            best = (joined, together, used) if _sure(together) else best
        if best:
            return best
        if len(clauses) > 1 and words(clauses[0])[0] in PREPARING and _same_object(clauses[0], clauses[1]):
            clause, ranked, used = self._first(clauses[1:])
            return clause, ranked, used + 1
        return clauses[0], self._doubtful(clauses[0], alone), 1

    def _doubtful(self, clause: str, ranked: list[Match]) -> list[Match]:
        """What an unclear clause may mean; refuses if that is nothing."""
        core = _without_purpose(clause)
        if core and (not ranked or ranked[0].score < WORTH_ASKING):
            without = self._matcher.rank(core, self._palette)
            ranked = [replace(match, score=min(match.score, DOUBTFUL)) for match in without]
        if not ranked or ranked[0].score < WORTH_ASKING:
            raise _Refused(self._cannot(f'no skill here does "{clause}"'))
        return ranked

    def _fetches(self, first: PlannedTask, second: PlannedTask) -> bool:
        """Whether the second task begins with the first: "take the red cube and put it on the green one".

        A task that only places ("put the cup on the shelf") needs the cup to be held; one whose examples say more
        than that ("stack the cubes") takes its thing itself.
        """
        moved, to = analyse(first.text), analyse(second.text)
        if first.guard or first.until or first.skill != second.skill or moved.relations or not to.relations:
            return False
        verb = words(first.text)[:1]
        entry = next(
            (
                e
                for e in entries_of(self._palette)
                if e.task and e.skill == second.skill and e.task.id == second.skill_task
            ),
            None,
        )
        more = entry is not None and any(not deeds <= {"place"} for deeds in entry.deeds)
        return more and bool(verb) and verb[0] in PREPARING and moved.things <= to.things

    def _check_repeatable(self, tasks: Sequence[PlannedTask]) -> None:
        """Refuse "open the drawer twice": after the first time there is nothing left to do."""
        if len({task.skill_task for task in tasks}) == 1 and self._undone(tasks[0].meant):
            raise _Refused(self._cannot(f'after "{tasks[0].meant}" there is nothing left to repeat'))

    def _condition(self, state: State) -> Condition:
        """The task whose success tells whether a state holds, and the one that undoes it."""
        ranked = self._matcher.rank(state.clause, self._palette)
        if _sure(ranked):
            return Condition(state.text, ranked[0].says, self._undone(ranked[0].says), state.negated)
        opposite = self._undone(state.clause)
        if opposite:
            return Condition(state.text, opposite, "", not state.negated)
        raise _Refused(self._cannot(f"I cannot judge whether {state.text}"))

    def _undone(self, clause: str) -> str:
        """Words of the task that undoes what a clause says; empty: no skill here has one."""
        said = words(clause)
        turned = [OPPOSITE.get(word, word) for word in said]
        if turned == said:
            return ""
        ranked = self._matcher.rank(" ".join(turned), self._palette)
        return ranked[0].says if _sure(ranked) else ""

    def _cannot(self, reason: str) -> CannotDo:
        return CannotDo(reason, offers(self._palette))


def _without_purpose(clause: str) -> str:
    """A clause without its "to …", which may be a reason or a task more; empty: it has none."""
    core, _, purpose = clause.partition(" to ")
    verb = words(purpose)[:1]
    return core if verb and verb[0] not in DETERMINERS and len(words(core)) > 1 else ""


def _sure(ranked: Sequence[Match]) -> bool:
    return bool(ranked) and ranked[0].score >= ACCEPT


def _prepares(first: PlannedTask, second: PlannedTask) -> bool:
    """Whether two clauses in a row say one task, the first only how it begins."""
    one, other = words(first.text)[:1], words(second.text)[:1]
    same = first.meant == second.meant and _described(first.text) <= _described(second.text)
    return same and one != other and one[0] in PREPARING and not (first.guard or first.until)


def _same_object(one: str, other: str) -> bool:
    """Whether two clauses speak of the same thing: a noun behind a determiner in both."""
    return not _nouns(one).isdisjoint(_nouns(other))


def _described(clause: str) -> frozenset[str]:
    """What a clause is about, with its descriptions."""
    return analyse(clause).things


def _nouns(clause: str) -> set[str]:
    return {word for before, word in pairwise(words(clause)) if before in ("the", "that", "this", "my")}


def _planned(clause: str, match: Match, like: PlannedTask | None = None) -> PlannedTask:
    """The task for a clause; `like`: with that one's guard and loop.

    A clause that the skill's task covers word by word is passed on in the words the skill was trained with;
    where the operator said more, the policy gets what the operator said.
    """
    instruction = match.task.phrase if match.task and match.covered else clause
    task_id = match.task.id if match.task else ""
    planned = PlannedTask(clause, match.skill, task_id, instruction, match.score)
    return replace(planned, guard=like.guard, until=like.until) if like else planned
