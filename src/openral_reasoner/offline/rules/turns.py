"""What the tables of turns of phrase share: how a thing is named in them, and how a table is applied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from openral_reasoner.offline.rules.verbs import is_verb
from openral_reasoner.vocabulary import stem

_NO_NOUN = (
    "is|are|was|were|be|been|being|has|have|had|should|must|would|could|can|will|may|might|ought|needs?"
    "|wants?|not|never"
    "|that|which|it|to|and|or|so|at|on|in|into|onto|of|from|goes|belongs|please"
)
THING = rf"(?P<thing>(?:the|that|this|my) \w+(?: (?!(?:{_NO_NOUN})\b)\w+)??)"
"""A noun phrase; "the" stands before every thing of the skills once `naming` has read the order."""
IT = THING[:-1] + "|it)"
"""The same, or a pronoun."""
PARTS = "handle|knob|grip|edge|pull|latch"
BODY = "grippers?|hands?|fingers?|fingertips?|fingertip|fist|palm|arm|claw|end effector|effector|tool|wrist"
STATE = "open|opened|closed|shut"
"""Words for the state of a thing that has two."""
SIZE = (
    r"(?:(?:good|proper|quick|gentle|firm|hard|little|light|nice|big|strong|short|soft|solid|decent|sharp"
    r"|brisk|single"
    r"|careful|friendly|hearty|steady|bit of an?|bit of|more|another) )*"
)
"""Words between an article and a deed: "a good firm push"."""

Rule = tuple[str, str | Callable[[re.Match[str]], str]]
"""A regular expression, and what takes its place."""

_DEEDS = {"insertion": "insert", "closure": "close", "placement": "place", "grip": "", "touch": "touch"}


def deed(word: str) -> str:
    """The verb of a noun for a deed ("push", "insertion"); empty: none that a task begins with."""
    word = _DEEDS.get(word, word)
    return word if word and (is_verb(word) or stem(word) in _EXTRA) else ""


_EXTRA = frozenset({"stack"})
"""Verbs that only some skills know, and that free speech makes nouns of."""


def verb_first(match: re.Match[str]) -> str:
    """ "give the button a push" -> "push the button", if what was given is a deed."""
    verb = deed(match["verb"])
    return f"{verb} {match['thing']}" if verb else match[0]


Rewrite = Callable[[str], str]


def table(rules: Iterable[Rule]) -> Rewrite:
    """A function that applies every rule in its order."""
    compiled = [(re.compile(pattern), replacement) for pattern, replacement in rules]

    def rewritten(text: str) -> str:
        for pattern, replacement in compiled:
            text = pattern.sub(replacement, text)
        return text

    return rewritten
