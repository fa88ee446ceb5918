"""From an operator's sentence to an ordered list of single tasks, by fixed rules.

Politeness and turns of phrase are made plain (`idioms`), conditions and repetitions are taken off (`structure`),
what the rules do not cover is refused (questions, prohibitions, choices, measures), and what is left is cut into
clauses in their order of execution, each with its own verb and object (`clauses`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from openral_reasoner.offline.rules.clauses import Clauses, in_order, strip_opening
from openral_reasoner.offline.rules.contractions import spelled_out
from openral_reasoner.offline.rules.idioms import plain
from openral_reasoner.offline.rules.refusals import QUESTION, REFUSALS, no_order
from openral_reasoner.offline.rules.structure import NotUnderstood, Passage, State, passages
from openral_reasoner.vocabulary import words

MAX_CHARACTERS = 1000
"""Longer texts are refused: no order is that long, and the rules' time grows with the length."""


@dataclass(frozen=True)
class Orders:
    """Tasks that share a condition, or have none."""

    tasks: tuple[str, ...]
    """One clause a task, with a verb and, as far as it could be resolved, an object: "close the drawer"."""
    condition: State | None = None
    wait: bool = False
    """Wait for the condition, in place of asking once."""
    otherwise: tuple[str, ...] = ()
    """Tasks for the case that the condition does not hold."""
    until: State | None = None
    """What ends the repetition of the tasks."""
    times: int = 1
    """How often the tasks are done, one round after the other."""


_NUMBERED = re.compile(r"(?:^|\s)\s*\d[.)]\s+")
"""Numbers of a list within one line; only where the text begins with one."""
_BULLET = re.compile(r"(?:^|(?<=\n))\s*(?:\d+[.)]|[-*•])\s+")
_ORDERLESS = re.compile(r"[.;\n!?]")
_CONDITION = re.compile(r"\b(if|unless|in case|when|whenever|as long as|only|except|need be|necessary)\b")


def is_conditional(sentence: str) -> bool:
    """Whether an order may rightly end with nothing done: "if the drawer is open, close it"."""
    return _CONDITION.search(sentence.lower()) is not None


def parse(sentence: str) -> tuple[Orders, ...] | NotUnderstood:
    """Cut one sentence, or a list of lines, into tasks in their order of execution.

    Returns:
        At least one task, or the reason why the sentence is refused.
    """
    if len(sentence) > MAX_CHARACTERS:
        return NotUnderstood(f"it has more than {MAX_CHARACTERS} characters; give me a few tasks at a time")
    text = spelled_out(sentence).strip()
    text = (_NUMBERED if _NUMBERED.match(text) else _BULLET).sub("\n", text).replace(":", ",").strip()
    if not words(text):
        return NotUnderstood("there are no words in it")
    if reason := no_order(text):
        return NotUnderstood(reason)
    text = plain(text)
    if any(QUESTION.search(strip_opening(part)) for part in _ORDERLESS.split(text)):
        return NotUnderstood("it is a question, not an order")
    cut = passages(text)
    if isinstance(cut, NotUnderstood):
        return cut
    clauses = Clauses()
    orders: list[Orders] = []
    for passage in cut:
        read = _read(passage, clauses)
        if isinstance(read, NotUnderstood):
            return read
        plain_before = orders and orders[-1] == Orders(orders[-1].tasks)
        if plain_before and read == Orders(read.tasks):
            orders[-1] = Orders(orders[-1].tasks + read.tasks)
        elif read.tasks:
            orders.append(read)
    if clauses.unsaid and orders:
        return NotUnderstood(f'I do not know what to do with "{clauses.unsaid}"')
    if not orders:
        return NotUnderstood(clauses.idle or "there is no task in it")
    return tuple(orders)


def _read(passage: Passage, clauses: Clauses) -> Orders | NotUnderstood:
    """Cut a passage's orders into tasks."""
    condition = passage.condition and clauses.name(passage.condition)
    tasks: list[tuple[str, ...]] = []
    for text in (passage.orders, passage.otherwise):
        ordered = in_order(strip_opening(text))
        for pattern, reason in REFUSALS:
            if any(pattern.search(clause) for clause in ordered):
                return NotUnderstood(reason)
        clauses.begin(condition.subject if condition else "")
        done = clauses.read([clause for clause in ordered if words(clause)])
        if isinstance(done, NotUnderstood):
            return done
        tasks.append(done)
    if condition and condition.subject in ("it", "that", "this") and clauses.last:
        condition = State(clauses.last, condition.predicate, condition.negated)
    until = passage.until and clauses.name(passage.until)
    if not tasks[0] and (condition or until or passage.times > 1):
        return NotUnderstood("there is a condition or a repetition and no task to it")
    return Orders(tasks[0], condition, passage.wait, tasks[1], until, passage.times)
