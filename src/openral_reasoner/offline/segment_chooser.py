"""Maps the segments of a text to tasks: which ones form one order, which are talk, and what each order means.

Neighbouring segments are matched alone and joined ("grab the handle" and "pull the drawer open" are one order), and the
division of the whole text with the highest probability is chosen. Then each order must be certain enough to be done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from openral_reasoner.offline import grammar
from openral_reasoner.offline.clause_matcher import LearnedMatcher, SpeechAct
from openral_reasoner.offline.conditions import NoPlan
from openral_reasoner.offline.entries import Entry
from openral_reasoner.offline.guards import negates, only_tells, refused

DO = 0.7
"""Least probability of a task that is done without asking."""
CERTAIN = 0.85
"""Probability from which on an order is certain; of divisions that are all certain the one with most orders wins."""
ASK = 0.15
"""Least probability of a task that is asked about."""
RIVAL = 2.0
"""Least lead [nat] of the log odds of the best task over those of other tasks."""
NO_ORDER = 0.5
"""Least `SpeechAct.no_order` at which a text is refused."""
TALK = 0.5
"""Least probability of a statement at which a segment is passed over."""
MAX_JOINED = 4
"""Most segments that form one order."""
MAX_SEGMENTS = 24
"""Most segments of a text."""


@dataclass(frozen=True)
class Match:
    """A task, and the probability that a clause orders just that."""

    entry: Entry
    score: float

    @property
    def nats(self) -> float:
        """Log odds."""
        p = min(max(self.score, 1e-6), 1 - 1e-6)
        return math.log(p / (1 - p))


@dataclass(frozen=True)
class Step:
    """One order without pronouns, with its possible meanings."""

    clause: str
    meanings: tuple[Match, ...]
    """One task if it is certain; else those that the operator is asked about, the likeliest first."""
    sure: bool
    """Whether it is certain enough to be done without asking."""
    added: bool = False
    """Whether it follows "and" or "then", and so is another step than the one before."""


class Chooser:
    """Reads orders against the tasks of one palette."""

    def __init__(self, matcher: LearnedMatcher, entries: list[Entry]) -> None:
        self._matcher = matcher
        self._entries = entries
        self.rank = lru_cache(maxsize=None)(self._rank)
        """(clause) -> all tasks by falling probability, each that of its best example; cached."""
        self.act = lru_cache(maxsize=None)(matcher.act)
        """(text) -> its speech act; cached."""

    def sure(self, clause: str) -> Match | None:
        """Return the task that a clause certainly means; None: there is none."""
        ranked = self.rank(clause)
        return ranked[0] if ranked and ranked[0].score >= DO and not _has_rival(ranked) else None

    def read(self, text: str) -> list[Step]:
        """Return the orders of a text without conditions, in their order of execution. Raises NoPlan: it is refused."""
        self.check(text)
        pieces = [piece for part in grammar.ordered(text) for piece in grammar.segments(part)]
        if not pieces:
            raise NoPlan("there are no words in it")
        if len(pieces) > MAX_SEGMENTS:
            raise NoPlan("it has too many parts; give me a few tasks at a time")
        clauses = self._resolved([segment for _, segment in pieces])
        orders = self._path(pieces, clauses)
        return [replace(self._step(clause), added=grammar.adds(joint)) for joint, clause in orders]

    def _rank(self, clause: str) -> tuple[Match, ...]:
        examples = list(dict.fromkeys(example for entry in self._entries for example in entry.examples))
        scores = dict(zip(examples, self._matcher.scores(clause, examples), strict=True))
        matches = []
        for entry in self._entries:
            if any(grammar.is_swapped(clause, example) for example in entry.examples):
                score = 0.0
            elif entry.examples:
                score = max(float(scores[example]) for example in entry.examples)
            else:
                score = self._any_order(clause)
            matches.append(Match(entry, score))
        return tuple(sorted(matches, key=lambda match: -match.score))

    def _any_order(self, clause: str) -> float:
        """Return DO for a clause that orders something with a thing, else 0; for skills that take any order."""
        act = self.act(clause)
        return DO if self._is_whole(clause) and act.order + act.fragment > DO else 0.0

    @staticmethod
    def _is_whole(clause: str) -> bool:
        """Return whether a clause says what to do, and with what."""
        named = grammar.phrases(clause)
        return bool(named) and not clause.startswith(named[0])

    def check(self, text: str) -> None:
        """Raise NoPlan where a text as a whole is no order; its text says why."""
        if reason := refused(text):
            raise NoPlan(reason)
        act = self.act(text)
        if act.no_order > NO_ORDER:
            raise NoPlan(_why(act, whole=self._is_whole(text)))

    def _resolved(self, segments: list[str]) -> list[str]:
        """Return the segments with pronouns and gaps filled from their neighbours, where they then match a task."""
        found: list[str] = []
        named: list[str] = []
        for index, segment in enumerate(segments):
            before = next((clause for clause in reversed(found) if len(clause.split()) > 1), "")
            behind = segments[index + 1] if index + 1 < len(segments) else ""
            chosen = segment
            if self._best(segment) < DO and not negates(segment):
                others = grammar.readings(segment, before, named, behind)[1:]
                chosen = next((reading for reading in others if self._best(reading) >= DO), segment)
            found.append(chosen)
            named = grammar.phrases(chosen) or named
        return found

    def _best(self, clause: str) -> float:
        return max((match.score for match in self.rank(clause)), default=0.0)

    def _path(self, pieces: list[tuple[str, str]], clauses: list[str]) -> list[tuple[str, str]]:
        """Return the orders, with their joints, of the most probable division into orders and talk.

        Of divisions of equal probability the one with most orders is taken.
        """
        plain = (
            self._worth(c) == 0.0 or self._talk(p[1]) > -0.2 for c, p in zip(clauses, pieces, strict=True)
        )
        widest = 1 if all(plain) else MAX_JOINED
        ways: list[tuple[float, list[tuple[str, str]]]] = [(0.0, [])]
        for end in range(1, len(pieces) + 1):
            value, orders = ways[end - 1]
            joint, segment = pieces[end - 1]
            step = grammar.separates(joint) or (end < len(pieces) and grammar.separates(pieces[end][0]))
            options = [(value - 12.0 if step else value + self._talk(segment, grammar.adds(joint)), orders)]
            for begin in range(max(0, end - widest), end):
                if any(grammar.separates(joint) for joint, _ in pieces[begin + 1 : end]):
                    continue
                joined = _joined(pieces[begin:end]) if end - begin > 1 else clauses[begin]
                if end - begin > 1 and self._hides(joined, clauses[begin:end]):
                    continue
                value, orders = ways[begin]
                worth = (end - begin) * self._worth(joined)
                options.append((value + worth, [*orders, (pieces[begin][0], joined)]))
            ways.append(max(options, key=lambda option: (round(option[0], 2), len(option[1]))))
        orders = ways[-1][1]
        if not orders:
            act = self.act(_joined(pieces))
            whole = self._is_whole(_joined(pieces))
            raise NoPlan(_why(act, whole=whole) if act.order < TALK else "there is no task in it")
        return orders

    def _hides(self, joined: str, clauses: Sequence[str]) -> bool:
        """Return whether joining clauses would hide an order: one alone may mean another task, or is certain."""
        if not self._entries:
            return False
        best = self.rank(joined)[0].entry.says
        alone = {ranked[0].entry.says for c in clauses if (ranked := self.rank(c)) and ranked[0].score >= ASK}
        first = self.sure(clauses[0])
        return bool(alone - {best}) or (first is not None and first.entry.says == best)

    def _worth(self, clause: str) -> float:
        """Return the log probability that a clause orders one task of the palette; 0 if it is certain."""
        if negates(clause):
            return -12.0
        score = self._best(clause) * (1.0 - self.act(clause).no_order)
        return 0.0 if score >= CERTAIN else math.log(max(score, 1e-4))

    def _talk(self, segment: str, added: bool = False) -> float:
        """Return the log probability that a segment orders and forbids nothing.

        A segment that is `added` by an "and", and is neither a statement nor of manner, counts as an order.
        """
        if (negates(segment) and not only_tells(segment)) or self._best(segment) >= ASK:
            return -12.0
        statement = self.act(segment).statement
        if statement > TALK:
            return math.log(max(statement, 1e-4))
        return -12.0 if added and not grammar.is_manner(segment) else -9.0

    def _step(self, clause: str) -> Step:
        """Return the meaning of an order. Raises NoPlan: it has none."""
        if negates(clause):
            raise NoPlan("it forbids something, and I only know what to do")
        self.check(clause)
        ranked = self.rank(clause)
        if not ranked or ranked[0].score < ASK:
            raise NoPlan(f'no skill here does "{clause}"')
        if match := self.sure(clause):
            return Step(clause, (match,), True)
        distinct = {match.entry.says: match for match in reversed(ranked) if match.score >= ASK}
        return Step(clause, tuple(distinct.values())[::-1], False)


def _has_rival(ranked: Sequence[Match]) -> bool:
    """Return whether the lead of the best task over some other one is less than RIVAL."""
    best = ranked[0]
    return any(
        other.entry.says != best.entry.says and other.entry.examples and best.nats - other.nats < RIVAL
        for other in ranked[1:]
        if other.score >= ASK
    )


def _joined(pieces: list[tuple[str, str]]) -> str:
    """Return segments as one text, with the joints between them."""
    text = pieces[0][1]
    for joint, segment in pieces[1:]:
        joint = joint.strip()
        text += f"{'' if joint[:1] in ',.;:!?' else ' '}{joint} {segment}"
    return " ".join(text.split())


def _why(act: SpeechAct, *, whole: bool) -> str:
    """Return why a text is no order, by its likeliest speech act; `whole`: it says what to do with what."""
    part = "it is a part of an order; say what to do with what"
    reasons = {
        act.forbidden: "it forbids something, and I only know what to do",
        act.question: "it is a question, not an order",
        act.unreal: "it speaks of what is not to be done now, or not by me",
        act.statement: "it describes something and orders nothing",
        act.fragment: "nothing that is deployed here does it" if whole else part,
    }
    return reasons[max(reasons)]
