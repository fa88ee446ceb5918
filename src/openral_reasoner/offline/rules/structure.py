"""Conditions and repetitions of a sentence, taken off its orders.

A sentence becomes passages in their order: plain orders, and orders with "if", "unless", "when", "otherwise",
"until" or "three times" around them. A condition holds for what stands with it up to "then", a semicolon or a
full stop. What cannot be understood for certain is refused: half a condition is worse than none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

MAX_TIMES = 10
"""Most rounds of "n times"."""


@dataclass(frozen=True)
class NotUnderstood:
    """The sentence is outside the rules; nothing of it may be executed."""

    reason: str
    """One sentence for the operator."""


@dataclass(frozen=True)
class State:
    """What a condition says: "the drawer is open"."""

    subject: str
    """With its determiner, or a pronoun."""
    predicate: str
    """open; closed; in the hole."""
    negated: bool = False

    @property
    def text(self) -> str:
        """The state in words, without its "not"."""
        return f"{self.subject} is {self.predicate}"

    @property
    def clause(self) -> str:
        """The order that would bring it about: "open the drawer"."""
        place = self.predicate.split()[0] in ("in", "at", "on", "inside", "into")
        return f"put {self.subject} {self.predicate}" if place else f"{self.predicate} {self.subject}"


@dataclass(frozen=True)
class Passage:
    """Orders that share a condition, or have none."""

    orders: str
    condition: State | None = None
    wait: bool = False
    """Wait for the condition ("when …"), in place of asking once ("if …")."""
    otherwise: str = ""
    """Orders for the other case."""
    until: State | None = None
    times: int = 1


_NUMBERS = {
    word: n
    for n, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1
    )
}
_TIMES = r"(?P<times>twice|thrice|once|(?:a )?\w+(?:-\w+)? times|\d+ ?x)"
_IF = r"(?P<word>if|unless|in case|provided that|provided|providing|assuming that|assuming|when|once|as soon as|after)"
_SUBJECT = r"(?P<subject>it|that|this|(?:the|this|that|my|our) \w+(?: \w+)?)"
_ADVERBS = (
    r"(?:already |still |currently |now |really |ever |fully |completely |yet |left |found |been |just )*"
)
_BE = r"(?:is|are|was|were|has|have|had|gets|becomes|got|be)"
_ONE = (
    r"(?:open|opened|closed|shut|pressed|pushed|pressed down|pushed down|inserted|"
    r"(?:in|at|on|inside) (?:the|its|that) \w+)"
)
_STATE = re.compile(
    rf"^{_SUBJECT} {_BE} {_ADVERBS}(?P<no>not )?{_ADVERBS}(?P<predicate>(?!to\b)\w+(?: \w+){{0,3}}?)"
    r"(?: already| yet| now| again| still)?$"
)
_FRONT = re.compile(rf"^(?:only )?{_IF} (?P<state>[^,]+?)(?:,(?: then)?| then) (?P<orders>.+)$", re.DOTALL)
_FRONT_CLOSE = re.compile(
    rf"^(?:only )?{_IF} (?P<state>(?:it|that|(?:the|this|that|my"
    rf"|our) \w+(?: \w+)??) {_BE} {_ADVERBS}(?:not )?{_ONE}) "
    r"(?P<orders>.+)$"
)
_SHOULD = re.compile(
    r"^should (?P<subject>(?:the|this|that|my) \w+(?: \w+)?) be (?P<predicate>[^,]+), (?P<orders>.+)$"
)
_BACK = re.compile(rf"^(?P<orders>.+?),? (?:but )?(?:only )?{_IF} (?P<state>.+)$")
_UNTIL = re.compile(r"^(?:keep |go on |continue )?(?P<orders>.+?),? (?:until|till) (?P<state>.+)$")
_TIMES_BACK = re.compile(rf"^(?P<orders>.+?),? {_TIMES}(?: in a row| in total| over)?$")
_TIMES_FRONT = re.compile(
    rf"^(?:repeat |do (?:this|the following) )?{_TIMES}\s*,? (?P<orders>.+)$", re.DOTALL
)
_ALL_AGAIN = re.compile(
    rf"^(?:and )?(?:do|repeat) (?:all )?(?:that|this|it|so|the same|everything"
    rf"|both)(?: all)?(?: over)?(?: again)? {_TIMES}$"
)
_OTHERWISE = re.compile(
    r"\s*[.;,]?\s*\b(?:or else|otherwise|else|if not|if it is not|if that is not the case)\b,?\s*"
)
_CHECK = re.compile(
    r"\b(?:check|see|find out|look|test|verify)(?: to see)? (?:whether|if) (?P<state>[^,.;]+?)"
    r"(?:,? and|[,.;])\s*(?:if (?:so|it is|that is the case|yes)|in that case|then),? "
)
_MIDDLE = re.compile(r"(?:,? and|,) (?=(?:if|unless|in case)\b)")
_PART = re.compile(
    r"\s*(?:[;\n.!?]|,?\s*\b(?:and then|and after that|and afterwards|after that|afterwards|thereafter"
    r"|then|(?<!the )next"
    r"|finally|lastly|first of all|firstly|secondly|thirdly"
    r"|(?:first|second|third)(?=\s*,|\s+\w+\s+(?:the|it|them|my)\b))\b\s*,?)\s*"
)
_THEN = re.compile(
    rf"(?P<front>(?:only )?\b{_IF} {_SUBJECT} {_BE} {_ADVERBS}(?:not )?{_ADVERBS}{_ONE}),? then "
)


def passages(text: str) -> list[Passage] | NotUnderstood:
    """Cut a text into passages.

    Args:
        text: as `openral_reasoner.offline.rules.idioms.plain` returns it.
    """
    text = _CHECK.sub(r"if \g<state>, ", text)
    text = _OTHERWISE.sub(" otherwise ", text)
    text = _THEN.sub(r"\g<front>, ", text)
    found: list[Passage] = []
    for part in _PART.split(text):
        for piece in _MIDDLE.split(part.strip(" ,")):
            orders = piece.strip(" ,")
            if not re.search(r"\w", orders):
                continue
            if again := _ALL_AGAIN.match(orders):
                times = _count(again["times"])
                if times is None or not found:
                    return NotUnderstood("I cannot tell what to repeat, or how often")
                found *= times
                continue
            passage = _passage(orders)
            if isinstance(passage, NotUnderstood):
                return passage
            found.append(passage)
    return found


def _passage(text: str) -> Passage | NotUnderstood:
    orders, _, otherwise = text.partition(" otherwise ")
    if text.startswith("otherwise "):
        return NotUnderstood('I do not know what the "otherwise" belongs to')
    passage = _conditional(orders)
    if isinstance(passage, NotUnderstood):
        return passage
    if otherwise and passage.condition is None:
        return NotUnderstood('there is an "otherwise" and no condition')
    passage = replace(passage, otherwise=otherwise)
    return _repeated(passage)


def _conditional(text: str) -> Passage | NotUnderstood:
    if match := _SHOULD.match(text):
        return Passage(match["orders"], State(match["subject"], match["predicate"]))
    for pattern in (_FRONT, _FRONT_CLOSE, _BACK):
        match = pattern.match(text)
        if match is None:
            continue
        state = _state(match["state"])
        word = match["word"]
        if state is None and word in ("after", "once", "when", "as soon as"):
            continue  # "once you have opened it": an order of events, see `openral_reasoner.offline.rules.parser`
        if state is None:
            return NotUnderstood(f'I cannot judge the condition "{match["state"].strip()}"')
        if word == "unless":
            state = replace(state, negated=not state.negated)
        wait = word in ("when", "once", "as soon as", "after")
        return Passage(match["orders"], state, wait=wait)
    return Passage(text)


def _repeated(passage: Passage) -> Passage | NotUnderstood:
    if match := _UNTIL.match(passage.orders):
        state = _state(match["state"])
        if state is None:
            return NotUnderstood(f'I cannot judge whether "{match["state"].strip()}"')
        return replace(passage, orders=match["orders"], until=state)
    front = _TIMES_FRONT.match(passage.orders)
    if front and front["times"] == "once" and not passage.orders.startswith("once,"):
        front = None  # "once you have closed the drawer, …"
    if match := front or _TIMES_BACK.match(passage.orders):
        times = _count(match["times"])
        if times is None:
            return NotUnderstood(f'I do not repeat a task "{match["times"]}"; at most {MAX_TIMES} times')
        return replace(passage, orders=match["orders"], times=times)
    return passage


def _state(text: str) -> State | None:
    match = _STATE.match(text.strip(" ,"))
    if match is None:
        return None
    return State(match["subject"], match["predicate"], negated=bool(match["no"]))


def _count(said: str) -> int | None:
    """The number of rounds; None: no number that may be done."""
    if said in ("once", "twice", "thrice"):
        return ("once", "twice", "thrice").index(said) + 1
    word = said.removesuffix("x").removesuffix("times").strip()
    number = int(word) if word.isdecimal() else _NUMBERS.get(word, 0)
    return number if 1 <= number <= MAX_TIMES else None
