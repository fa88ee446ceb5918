"""From an operator's sentence to an ordered list of single tasks, by fixed rules.

Three passes: refuse what the rules do not cover (questions, prohibitions, conditions, repetitions), cut the
sentence into clauses in their order of execution, and give every clause its own verb and object ("open and
close the drawer", "open the window and the drawer", "open the drawer, then close it"). A condition or a
loop would become another kind of step beside `TaskPhrase`; until then such a sentence is refused as a
whole, because executing half of it could be worse than nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from openral_reasoner.idioms import plain
from openral_reasoner.vocabulary import DETERMINERS, FILLERS, is_manner, is_verb, words

MAX_CHARACTERS = 1000
"""Longer texts are refused: no order is that long, and the rules' time grows with the length."""


@dataclass(frozen=True)
class TaskPhrase:
    """One task in plain words."""

    text: str
    """A clause with a verb and, as far as it could be resolved, an object: "close the drawer"."""


@dataclass(frozen=True)
class NotUnderstood:
    """The sentence is outside the rules; nothing of it may be executed."""

    reason: str
    """One sentence for the operator."""


_QUESTION = re.compile(r"^(what|who|why|how|where|which|is|are|was|were|did|does|has|have|do you)\b")
_DESCRIPTION = re.compile(
    r"(?:^|[,;.]\s*)(?:the|that|this) \w+(?: \w+)? (?:is|was)(?: already| still| now)? \w+"
)
""" "The drawer is open, close it": its first half is no order; "make sure the drawer is closed" is one."""
_REFUSALS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\b(don't|dont|not|never|without|avoid|cannot|can't|won't|stop \w+ing)\b"),
        "it forbids something, and I only know what to do",
    ),
    (
        re.compile(r"\b(instead of|rather than|except|but|unless)\b"),
        "it makes an exception, and I only know plain orders",
    ),
    (
        re.compile(r"\b(if|until|till|while|when|whenever|in case|as long as|either|or|maybe)\b"),
        "it has a condition or a choice, and I only know plain orders",
    ),
    (
        re.compile(
            r"\b(twice|thrice|\w+ times|forever|repeatedly|repeat|keep \w+ing|every|each|everything"
            r"|all (?:of )?(?:the )?\w+s)\b"
        ),
        "it repeats something or means several things at once; name each task",
    ),
    (
        re.compile(r"\ba (?:little|bit|tad)\b|\bajar\b|\bpart of the way\b"),
        "it asks for a part of a task, and I only know whole ones",
    ),
    (_QUESTION, "it is a question, not an order"),
)
"""Sentences the rules must not touch, and why; the first that applies is told to the operator."""
_SEPARATOR = re.compile(
    r"\s*(?:[;\n.!?]|,?\s*\b(?:and then|and after that|and afterwards|after that|afterwards|thereafter|then"
    r"|(?<!the )next|finally|lastly|first of all|firstly|secondly|thirdly|followed by"
    r"|(?:first|second|third)(?=\s*,|\s+\w+\s+(?:the|it|them|my)\b))\b\s*,?)\s*"
)
_AFTER_FIRST = re.compile(r"^(?:after|once)\s+(?P<first>[^,]+),\s*(?P<second>.+)$")
_AFTER_LAST = re.compile(r"^(?P<second>.+?),?\s+after\s+(?P<first>.+)$")
_BEFORE_FIRST = re.compile(r"^before\s+(?P<second>[^,]+),\s*(?P<first>.+)$")
_BEFORE_LAST = re.compile(r"^(?P<first>.+?),?\s+before\s+(?P<second>.+)$")
_OPENING = re.compile(
    r"^(?:(?:please|kindly|hey|hi|hello|ok|okay|robot|so|now|also|just|well|and|you|to|by|with)\b[\s,]*"
    r"|(?:can|could|would|will) you (?:mind )?"
    r"|(?:i|we)(?:'d| would)? (?:want|like|need|wish) (?:you )?(?:to (?=\w+ ))?"
    r"|(?:go ahead|try|start|begin|finish|end|continue|proceed)(?: off)? (?:and|by|with|to) "
    r"|(?:let's|lets|let us|help me|make sure(?: that)?|be sure to|your (?:task|job) is to|it's time to)\s+)"
)
_LIST = re.compile(r"\s*,?\s+and\s+|\s*,\s*|\s*&\s*")
_NUMBERED = re.compile(r"(?:^|\s)\s*\d[.)]\s+")
"""Numbers of a list within one line; only where the text begins with one."""
_NUMBER = re.compile(r"(?:^|(?<=\n))\s*(?:\d+[.)]|[-*•])\s+")
_PRONOUN = re.compile(r"\b(?:it|them|this one|that one)\b|\b(?:this|that|these|those|both)(?=\s*$)")


_CONDITION = re.compile(r"\b(if|unless|in case|when|whenever|as long as|only|except|need be|necessary)\b")


def is_conditional(sentence: str) -> bool:
    """Whether an order may rightly end with nothing done: "if the drawer is open, close it"."""
    return _CONDITION.search(sentence.lower()) is not None


def parse(sentence: str) -> tuple[TaskPhrase, ...] | NotUnderstood:
    """Cut one sentence, or a list of lines, into tasks in their order of execution.

    Returns:
        At least one task, or the reason why the sentence is refused.
    """
    if len(sentence) > MAX_CHARACTERS:
        return NotUnderstood(f"it has more than {MAX_CHARACTERS} characters; give me a few tasks at a time")
    text = sentence.lower().replace("’", "'").strip()
    text = (_NUMBERED if _NUMBERED.match(text) else _NUMBER).sub("\n", text).strip()
    if not words(text):
        return NotUnderstood("there are no words in it")
    said = text
    text = plain(text)
    if _DESCRIPTION.search(said):
        return NotUnderstood("it describes something; say what to do")
    for pattern, reason in _REFUSALS:
        if pattern.search(_strip_opening(text)) or (pattern is not _QUESTION and pattern.search(said)):
            return NotUnderstood(reason)
    clauses = [
        clause
        for part in _SEPARATOR.split(text)
        for clause in _in_order(_strip_opening(part))
        if words(clause)
    ]
    if not clauses:
        return NotUnderstood("there is no task in it")
    tasks = _distribute(clauses)
    return _resolve_objects(tasks) if tasks else NotUnderstood("there is no task in it")


def _strip_opening(clause: str) -> str:
    """Cut greetings and politeness off the front, as often as they come."""
    clause = clause.strip(" ,")
    while (shorter := _OPENING.sub("", clause).strip(" ,")) != clause:
        clause = shorter
    return clause


def _in_order(clause: str) -> list[str]:
    """Turn "after A, B", "B after A", "before B, A" and "A before B" into A, B."""
    for pattern in (_AFTER_FIRST, _BEFORE_FIRST, _AFTER_LAST, _BEFORE_LAST):
        match = pattern.match(clause)
        if match and _verb_in(match["first"]) and _verb_in(match["second"]):
            return [_strip_opening(match["first"]), _strip_opening(match["second"])]
    return [clause]


def _verb_in(clause: str) -> bool:
    return any(is_verb(word) for word in words(clause))


def _distribute(clauses: list[str]) -> list[str]:
    """Cut lists at commas and "and"; members share the verb or the object of their neighbours."""
    tasks: list[str] = []
    for clause in clauses:
        pending: list[str] = []  # verbs still waiting for the object they share: "open and close the drawer"
        for member in (_strip_opening(part) for part in _LIST.split(clause)):
            if not _content(member):
                continue
            verb, rest = _split_verb(member)
            if verb and not _content(rest) and not _PRONOUN.search(rest):
                pending.append(member)
                continue
            if not verb and tasks and not _verb_in(member):
                verb_of_last, _ = _split_verb(tasks[-1])
                member = f"{verb_of_last} {member}".strip()
            tasks.extend(f"{waiting} {rest}" for waiting in pending)
            pending = []
            tasks.append(member)
        tasks.extend(pending)
    return tasks


def _content(text: str) -> list[str]:
    """Words of a text that carry meaning, pronouns not among them."""
    return [
        word
        for word in words(text)
        if word not in FILLERS and word != "it" and word != "them" and not is_manner(word)
    ]


def _split_verb(clause: str) -> tuple[str, str]:
    """Split a clause into leading verb and rest; an unknown word before a determiner is a verb too."""
    tokens = clause.split()
    bare = [word.strip(",'\"") for word in tokens]
    for index, word in enumerate(bare):
        if is_verb(word) or (
            index == 0 and len(bare) > 1 and bare[1] in DETERMINERS and word not in DETERMINERS
        ):
            return word, " ".join(tokens[index + 1 :])
        if word in DETERMINERS:
            break
    return "", clause


def _resolve_objects(clauses: list[str]) -> tuple[TaskPhrase, ...] | NotUnderstood:
    """Replace pronouns by the object named last, plural ones by all objects of the last group."""
    tasks: list[TaskPhrase] = []
    group: list[str] = []
    group_verb = ""
    for clause in clauses:
        verb, rest = _split_verb(clause)
        pronoun = _PRONOUN.search(rest)
        if pronoun is None:
            phrase = _noun_phrase(rest)
            if phrase:
                group = [*group, phrase] if verb == group_verb else [phrase]
                group_verb = verb
            tasks.append(TaskPhrase(clause))
            continue
        if not group:
            return NotUnderstood(f"'{pronoun[0]}' stands for nothing that was named before")
        plural = pronoun[0] in ("them", "both", "these", "those")
        for phrase in group if plural else group[-1:]:
            tasks.append(TaskPhrase(f"{verb} {_PRONOUN.sub(phrase, rest, count=1)}".strip()))
        group, group_verb = (group if plural else group[-1:]), ""
    return tuple(tasks)


def _noun_phrase(rest: str) -> str:
    """The object of a clause with its determiner, without particles around it."""
    kept = [
        word
        for word in words(rest)
        if (word in DETERMINERS or word not in FILLERS) and not is_verb(word) and not is_manner(word)
    ]
    while kept and kept[-1] in ("in", "out", "down", "on"):
        kept.pop()
    while kept and kept[0] in ("in", "out", "down", "on", *(DETERMINERS - {"the", "a", "an", "my", "your"})):
        kept.pop(0)
    return " ".join(kept)
